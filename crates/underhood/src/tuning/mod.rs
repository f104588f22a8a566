//! What `tune` does, step by step.
//!
//! | file | step |
//! |---|---|
//! | `baseline` | run the command as it is: status, output, whether it repeats itself, what it consists of |
//! | `smoke` | one run with each remedy: applicable, in effect, same status, same output |
//! | `outcome` | from the race's arms to what the user is told |

pub mod baseline;
pub mod outcome;
pub mod smoke;
