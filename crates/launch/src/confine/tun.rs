//! A TUN device: what the system sends through it is read here, and what is written here has arrived from it.
//!
//! Absent on purpose: names that the kernel chooses, and devices that outlive their file.

use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{Updater, ioctl, opcode};
use std::os::fd::OwnedFd;

/// `TUNSETIFF` (include/uapi/linux/if_tun.h), `_IOW('T', 202, int)`; its argument is a `struct ifreq` all the same.
const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<i32>(b'T', 202);
/// `IFF_TUN | IFF_NO_PI`: packets of IP without a header before them.
const FLAGS: u16 = 0x0001 | 0x1000;
/// Size of a `struct ifreq`, and of the name at its begin.
const REQUEST_BYTES: usize = 40;
const NAME_BYTES: usize = 16;

/// Makes a device in the network of the calling thread; it goes with the file.
pub(super) fn open(name: &str) -> Result<OwnedFd, String> {
    if name.is_empty() || name.len() >= NAME_BYTES {
        return Err(format!("`{name}` is no name of a device"));
    }
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open("/dev/net/tun", flags, Mode::empty())
        .map_err(|error| format!("cannot open /dev/net/tun: {error}"))?;
    let mut request = [0_u8; REQUEST_BYTES];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[NAME_BYTES..NAME_BYTES + 2].copy_from_slice(&FLAGS.to_ne_bytes());
    #[expect(unsafe_code, reason = "no safe wrapper knows this call; ADR 0031")]
    // SAFETY: the kernel reads and writes at most a `struct ifreq`, which has 40 bytes, and the array is as long.
    let made = unsafe { ioctl(&file, Updater::<TUNSETIFF, [u8; REQUEST_BYTES]>::new(&mut request)) };
    made.map_err(|error| format!("cannot make the device {name}: {error}"))?;
    Ok(file)
}
