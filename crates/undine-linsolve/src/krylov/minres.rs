//! MINRES for symmetric systems that need not be definite (Paige & Saunders 1975), with a definite preconditioner.

use super::progress::Progress;
use crate::error::Result;
use crate::operator::{Operator, Preconditioner};
use crate::report::{Outcome, Report, Stop};
use crate::vector;

/// A residual r with ‖A·r‖ below this share of ‖A‖·‖r‖ lies in the null space: no unknowns make it smaller.
const NULL_SPACE: f64 = 1e-11;

/// Solves A·x = b, A symmetric, definite or not, the preconditioner symmetric and positive definite. `x` goes in as the
/// first guess. Collective.
///
/// The method makes the preconditioned norm of the residual smallest. It stops on the plain norm nevertheless, as
/// [`Stop`] says, and therefore carries the residual along as a vector. A singular system with a right-hand side that
/// cannot be reached ends in the smallest residual, as [`Outcome::Inconsistent`].
pub fn minres(
    operator: &dyn Operator,
    preconditioner: &mut dyn Preconditioner,
    b: &[f64],
    x: &mut [f64],
    stop: &Stop,
) -> Result<Report> {
    let rows = operator.rows();
    let local = rows.local();
    let mut progress = Progress::new(operator, b, x, stop)?;
    let mut r = vec![0.0; local];
    let mut lanczos = Lanczos::new(rows.stored(), local);
    let (mut w, mut w_before) = (vec![0.0; local], vec![0.0; local]);
    let work = 8 * (7 * local + rows.stored()) as u64;

    let mut ended = progress.begin(x, &mut r)?;
    let mut qr = Qr::default();
    let mut anew = true;
    let outcome = loop {
        if ended == Some(Outcome::Converged) {
            ended = progress.confirm(x, &mut r)?;
            anew = true;
        }
        if let Some(outcome) = ended {
            break outcome;
        }

        // The first Lanczos vector is the residual.
        if anew {
            anew = false;
            let beta = match lanczos.begin(operator, preconditioner, &r)? {
                Ok(beta) => beta,
                Err(outcome) => break outcome,
            };
            qr = Qr::new(beta);
            w.fill(0.0);
            w_before.fill(0.0);
        }

        // One more Lanczos vector, and the next column of the tridiagonal matrix, made triangular by one rotation.
        let (alpha, beta, beta_next) = match lanczos.advance(operator, preconditioner)? {
            Ok(column) => column,
            Err(outcome) => break outcome,
        };
        qr.rotate(alpha, beta, beta_next);
        if qr.along_null_space() {
            // The step would divide by next to nothing, and gain nothing.
            break Outcome::Inconsistent(progress.last());
        }

        // x ← x + φ·w, and the residual with it.
        let w_next = [&mut w_before[..], &mut w[..]];
        let rr = rows.sum(advance(&qr, beta_next, &mut lanczos, w_next, x, &mut r))?;
        std::mem::swap(&mut w, &mut w_before);
        ended = progress.watch(rr.sqrt(), &r, x)?;
    };
    progress.close("MINRES", preconditioner, outcome, x, &mut r, work)
}

/// The Lanczos process on M⁻¹·A: z₁, z₂, … with A·M⁻¹·Z = Z·T, orthonormal in M⁻¹.
struct Lanczos {
    /// M⁻¹·z of the vector at work, with copies of foreign entries.
    v: Vec<f64>,
    /// A·v.
    q: Vec<f64>,
    /// β·z of the vector at work and of the one before it.
    z: Vec<f64>,
    z_before: Vec<f64>,
    /// M⁻¹ of the next β·z, not yet divided by β.
    y: Vec<f64>,
    beta: f64,
    beta_before: f64,
}

impl Lanczos {
    fn new(stored: usize, local: usize) -> Self {
        let zeros = || vec![0.0; local];
        Self {
            v: vec![0.0; stored],
            q: zeros(),
            z: zeros(),
            z_before: zeros(),
            y: zeros(),
            beta: 0.0,
            beta_before: 0.0,
        }
    }

    /// Begins with a residual; returns its norm β₁ in M⁻¹, or why not. Collective.
    fn begin(
        &mut self,
        operator: &dyn Operator,
        preconditioner: &mut dyn Preconditioner,
        r: &[f64],
    ) -> Result<Result<f64, Outcome>> {
        vector::copy(r, &mut self.z);
        self.z_before.fill(0.0);
        self.beta_before = 1.0;
        let beta = match self.precondition(operator, preconditioner)? {
            Ok(0.0) => return Ok(Err(Outcome::Breakdown(NOT_DEFINITE))),
            Ok(beta) => beta,
            Err(outcome) => return Ok(Err(outcome)),
        };
        self.beta = beta;
        let local = r.len();
        vector::update(&mut self.v[..local], &self.y, |_, y| y / beta);
        Ok(Ok(beta))
    }

    /// The next vector; returns α, β and the next β, or why not. Collective.
    fn advance(
        &mut self,
        operator: &dyn Operator,
        preconditioner: &mut dyn Preconditioner,
    ) -> Result<Result<(f64, f64, f64), Outcome>> {
        let alpha = operator.apply_dot(&mut self.v, &mut self.q)?;
        if !alpha.is_finite() {
            return Ok(Err(Outcome::NotFinite("the product with the search direction")));
        }
        // A·v − α·z − β·z_before, with both z stored times their β.
        let (now, before) = (alpha / self.beta, self.beta / self.beta_before);
        let (q, z) = (&self.q, &self.z);
        vector::for_chunks(&mut self.z_before, |start, next| {
            for ((next, &q), &z) in next.iter_mut().zip(&q[start..]).zip(&z[start..]) {
                *next = q - now * z - before * *next;
            }
        });
        std::mem::swap(&mut self.z, &mut self.z_before);
        let beta = self.beta;
        match self.precondition(operator, preconditioner)? {
            Err(outcome) => Ok(Err(outcome)),
            Ok(next) => {
                (self.beta_before, self.beta) = (beta, next);
                Ok(Ok((alpha, beta, next)))
            }
        }
    }

    /// y = M⁻¹·z and √(z·y), or why there is none. Collective.
    fn precondition(
        &mut self,
        operator: &dyn Operator,
        preconditioner: &mut dyn Preconditioner,
    ) -> Result<Result<f64, Outcome>> {
        preconditioner.apply(&self.z, &mut self.y)?;
        if operator.is_singular() {
            operator.project(&mut self.y)?;
        }
        let zy = operator.rows().sum(vector::dot(&self.z, &self.y))?;
        Ok(if !zy.is_finite() {
            Err(Outcome::NotFinite("the preconditioned residual"))
        } else if zy < 0.0 {
            Err(Outcome::Breakdown(NOT_DEFINITE))
        } else {
            Ok(zy.sqrt())
        })
    }
}

const NOT_DEFINITE: &str = "the preconditioner is not positive definite (r·z ≤ 0)";

/// The QR factorisation of the tridiagonal matrix, one rotation (c, s) a column, and the right-hand side β₁·e₁ rotated
/// with it. Letters as in Paige & Saunders, section 5 and 6.
#[derive(Default)]
struct Qr {
    c: f64,
    s: f64,
    /// The entries of the column above its diagonal: γ below, δ above it, ε two above.
    gamma: f64,
    delta: f64,
    epsilon: f64,
    /// What the next column will need: its δ and ε as far as they are known.
    delta_bar: f64,
    epsilon_next: f64,
    phi: f64,
    phi_bar: f64,
    /// ‖A·r‖/‖r‖ of the iterate before, and the Frobenius norm of what is known of the matrix.
    normal: f64,
    norm_squared: f64,
}

impl Qr {
    fn new(beta: f64) -> Self {
        Self { c: -1.0, phi_bar: beta, normal: f64::INFINITY, ..Self::default() }
    }

    /// Takes in the column (β, α, β_next).
    fn rotate(&mut self, alpha: f64, beta: f64, beta_next: f64) {
        self.epsilon = self.epsilon_next;
        self.delta = self.c * self.delta_bar + self.s * alpha;
        let gamma_bar = self.s * self.delta_bar - self.c * alpha;
        self.epsilon_next = self.s * beta_next;
        self.delta_bar = -self.c * beta_next;
        self.normal = gamma_bar.hypot(self.delta_bar);
        let first = self.norm_squared == 0.0;
        self.norm_squared += alpha * alpha + beta_next * beta_next;
        self.norm_squared += if first { 0.0 } else { beta * beta };

        self.gamma = gamma_bar.hypot(beta_next);
        (self.c, self.s) = (gamma_bar / self.gamma, beta_next / self.gamma);
        self.phi = self.c * self.phi_bar;
        self.phi_bar *= self.s;
    }

    /// Whether the residual before this column can be made no smaller. If not, γ is not zero.
    fn along_null_space(&self) -> bool {
        self.normal <= NULL_SPACE * self.norm_squared.sqrt()
    }
}

/// One pass over all vectors: w ← (v − ε·w₂ − δ·w₁)/γ in place of w₂, x ← x + φ·w, r ← s²·r − φ̄·c·z, v ← y/β. Returns
/// r·r of the entries here.
fn advance(
    qr: &Qr,
    beta_next: f64,
    lanczos: &mut Lanczos,
    w: [&mut [f64]; 2],
    x: &mut [f64],
    r: &mut [f64],
) -> f64 {
    let [w_before, w] = w;
    let (s2, inverse_gamma) = (qr.s * qr.s, 1.0 / qr.gamma);
    // β_next = 0 means that z is zero too: the residual is then zero, and no next v is needed.
    let inverse_beta = if beta_next > 0.0 { 1.0 / beta_next } else { 0.0 };
    let along_z = qr.phi_bar * qr.c * inverse_beta;
    let (y, z) = (&lanczos.y, &lanczos.z);
    let local = x.len();
    let [rr] = vector::fused([w_before, &mut lanczos.v[..local], x, r], |n, [w2, v, x, r]| {
        let next = (*v - qr.epsilon * *w2 - qr.delta * w[n]) * inverse_gamma;
        *w2 = next;
        *x += qr.phi * next;
        *r = s2 * *r - along_z * z[n];
        *v = y[n] * inverse_beta;
        [*r * *r]
    });
    rr
}
