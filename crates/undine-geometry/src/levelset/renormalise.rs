//! After an operation has moved the surface: distances again, in a band around where it is now.

use super::LevelSet;
use crate::error::Result;

impl LevelSet {
    /// Makes a band of distances around the zero set of what the voxels hold. Collective.
    pub(super) fn renormalise(&mut self) -> Result<()> {
        let bucket = self.domain.frame().bucket_size(0);
        let wanted = match f64::from(self.width) {
            width if width <= bucket => self.around_surface(width)?,
            // One that fills a box keeps it, and follows the surface where it leaves the box.
            _ => self.around_surface(bucket)?.union(self.topology().all()),
        };
        self.cover(&wanted)?;
        self.redistance()?;
        self.trim()
    }
}
