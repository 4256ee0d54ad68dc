//! What spans phenomena, written on what Objects offer, never on a kind of Object.
