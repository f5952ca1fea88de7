//! Models as data: how they count images, which parameters they take, what they cost.
