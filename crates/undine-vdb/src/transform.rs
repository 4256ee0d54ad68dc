//! Where a grid is in the world: a linear map from voxel coordinates, whose whole numbers are centres of voxels.

/// A linear map from voxels to the world: `[x y z 1] = [i j k 1] · rows`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform {
    /// The images of the three axes of voxels and of the voxel at 0 [m]; the last column is 0 0 0 1.
    pub rows: [[f64; 4]; 4],
}

impl Transform {
    /// Voxels of this side [m], the centre of voxel 0 at this place [m].
    pub fn uniform(voxel_size: f64, origin: [f64; 3]) -> Self {
        Self::scaled([voxel_size; 3], origin)
    }

    /// Voxels of these sides [m], the centre of voxel 0 at this place [m].
    pub fn scaled([x, y, z]: [f64; 3], [a, b, c]: [f64; 3]) -> Self {
        Self { rows: [[x, 0.0, 0.0, 0.0], [0.0, y, 0.0, 0.0], [0.0, 0.0, z, 0.0], [a, b, c, 1.0]] }
    }

    /// Where a place among the voxels is in the world [m].
    pub fn world(&self, voxel: [f64; 3]) -> [f64; 3] {
        let rows = &self.rows;
        [0, 1, 2].map(|c| {
            voxel[0] * rows[0][c] + voxel[1] * rows[1][c] + voxel[2] * rows[2][c] + rows[3][c]
        })
    }

    /// The sides of a voxel [m].
    pub fn voxel_size(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| {
            let [x, y, z, _] = self.rows[axis];
            (x * x + y * y + z * z).sqrt()
        })
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::uniform(1.0, [0.0; 3])
    }
}
