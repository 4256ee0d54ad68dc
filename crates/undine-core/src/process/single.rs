//! The embedded process: a run that is not distributed.

use super::{Parcel, Pending, Processes, State, check_destinations, check_start};
use crate::error::{CoreError, Result};

/// The only process of a run. Parcels to itself are moved, never copied, and nothing waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Single;

impl Processes for Single {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn start(&self, outgoing: Vec<Parcel>, incoming: &[(usize, usize)]) -> Result<Pending> {
        check_start(0, 1, &outgoing, incoming)?;
        Ok(Pending(State::Done(outgoing)))
    }

    fn all_to_all(&self, values: &[u64]) -> Result<Vec<u64>> {
        if values.len() != 1 {
            let what = "a list with a value per process".into();
            return Err(CoreError::WrongLength { what, found: values.len(), wanted: 1 });
        }
        Ok(values.to_vec())
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        Ok(vec![bytes.to_vec()])
    }

    fn barrier(&self) -> Result<()> {
        Ok(())
    }

    fn abort(&self, message: &str) -> ! {
        eprintln!("error: {message}");
        std::process::exit(1)
    }

    fn exchange(&self, outgoing: Vec<Parcel>) -> Result<Vec<Parcel>> {
        check_destinations(&outgoing, 1)?;
        Ok(outgoing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(process: usize, bytes: &[u8]) -> Parcel {
        Parcel { process, bytes: bytes.to_vec() }
    }

    #[test]
    fn a_parcel_to_oneself_is_moved_and_not_copied() {
        let sent = parcel(0, b"water");
        let address = sent.bytes.as_ptr();
        let received = Single.start(vec![sent], &[(0, 5)]).unwrap().finish().unwrap();
        assert_eq!(received, [parcel(0, b"water")]);
        assert_eq!(received[0].bytes.as_ptr(), address);
        assert_eq!(Single.exchange(received).unwrap()[0].bytes.as_ptr(), address);
    }

    #[test]
    fn several_parcels_of_one_start_keep_their_order() {
        let sent = vec![parcel(0, b"a"), parcel(0, b""), parcel(0, b"ccc")];
        let received =
            Single.start(sent.clone(), &[(0, 1), (0, 0), (0, 3)]).unwrap().finish().unwrap();
        assert_eq!(received, sent);
    }

    #[test]
    fn nothing_sent_is_nothing_received_without_allocation() {
        assert_eq!(Single.start(Vec::new(), &[]).unwrap().finish().unwrap().capacity(), 0);
        assert_eq!(Single.exchange(Vec::new()).unwrap().capacity(), 0);
    }

    #[test]
    fn an_exchange_keeps_an_empty_parcel() {
        assert_eq!(Single.exchange(vec![parcel(0, b"")]).unwrap(), [parcel(0, b"")]);
    }

    #[test]
    fn a_parcel_to_nobody_is_an_error_that_names_the_rank() {
        let message = "the process that a parcel goes to is 3, but there are only 1";
        assert_eq!(Single.start(vec![parcel(3, b"x")], &[]).unwrap_err().to_string(), message);
        assert_eq!(Single.exchange(vec![parcel(3, b"x")]).unwrap_err().to_string(), message);
        let error = Single.start(Vec::new(), &[(1, 4)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the process that a parcel comes from is 1, but there are only 1"
        );
    }

    #[test]
    fn a_parcel_of_another_size_than_expected_is_an_error() {
        let why =
            |outgoing, incoming: &[_]| Single.start(outgoing, incoming).unwrap_err().to_string();
        assert!(
            why(vec![parcel(0, b"x")], &[(0, 2)])
                .ends_with("process 0 sends itself 1 bytes, but expects 2 bytes")
        );
        assert!(
            why(vec![parcel(0, b"x")], &[])
                .ends_with("process 0 sends itself 1 bytes, but expects no parcel")
        );
        assert!(
            why(Vec::new(), &[(0, 2)])
                .ends_with("process 0 sends itself no parcel, but expects 2 bytes")
        );
    }

    #[test]
    fn two_parcels_of_an_exchange_to_one_process_are_refused() {
        let error = Single.exchange(vec![parcel(0, b"a"), parcel(0, b"b")]).unwrap_err();
        assert!(error.to_string().contains("to process 0 is two or more, but must be at most one"));
    }

    #[test]
    fn collective_calls_return_what_went_in() {
        assert_eq!(Single.all_gather(b"abc").unwrap(), [b"abc"]);
        assert_eq!(Single.all_to_all(&[7]).unwrap(), [7]);
        assert!(Single.all_to_all(&[7, 8]).is_err());
        assert_eq!(Single.barrier(), Ok(()));
        assert_eq!((Single.rank(), Single.count()), (0, 1));
    }
}
