//! The file's header: what it is, which version, and the trace's metadata.

use std::io::{self, Read, Write};

use super::primitive::{
    Malformed, put_str, put_u8, put_u32, put_u64, take_str, take_u8, take_u32, take_u64,
};
use super::{OpenError, VERSION};
use crate::trace::Metadata;

/// A first byte that no text has, and line ends that a transfer as text would mangle.
const MAGIC: [u8; 8] = *b"\x89RLOG\r\n\x1a";

/// Magic, version, reserved, payload length, checksum.
const FIXED_LEN: usize = 20;
const CHECKSUM_AT: usize = 16;

/// Metadata is small; whatever claims to be longer is damage.
const MAX_PAYLOAD: u32 = 1 << 24;

pub(crate) fn write(out: &mut impl Write, metadata: &Metadata) -> io::Result<()> {
    let payload = encode(metadata);
    let len = u32::try_from(payload.len()).ok().filter(|len| *len <= MAX_PAYLOAD);
    let len = len.ok_or_else(|| io::Error::other("the metadata is too long"))?;
    let mut fixed = [0; FIXED_LEN];
    fixed[0..8].copy_from_slice(&MAGIC);
    fixed[8..10].copy_from_slice(&VERSION.to_le_bytes());
    fixed[12..16].copy_from_slice(&len.to_le_bytes());
    let checksum = checksum(&fixed, &payload);
    fixed[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
    out.write_all(&fixed)?;
    out.write_all(&payload)
}

/// What a header says.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) version: u16,
    pub(crate) metadata: Metadata,
    /// How long the header is.
    pub(crate) len: u64,
}

/// Reads the header; the next byte is that of the first chunk.
pub(crate) fn read(input: &mut impl Read) -> Result<Header, OpenError> {
    let mut fixed = [0; FIXED_LEN];
    let got = read_up_to(input, &mut fixed)?;
    let known = got.min(MAGIC.len());
    if fixed[..got].iter().all(|byte| *byte == 0) && is_all_zeros(input)? {
        return Err(OpenError::NothingRecorded { len: 0 });
    }
    if fixed[..known] != MAGIC[..known] {
        return Err(OpenError::NotATrace);
    }
    let version = u16::from_le_bytes([fixed[8], fixed[9]]);
    if got >= 10 && !(1..=VERSION).contains(&version) {
        return Err(OpenError::UnknownVersion { version });
    }
    if got < FIXED_LEN {
        return Err(OpenError::NothingRecorded { len: got as u64 });
    }
    let payload_len = u32::from_le_bytes(fixed[12..16].try_into().expect("four bytes"));
    if payload_len > MAX_PAYLOAD {
        return Err(OpenError::DamagedHeader);
    }
    let mut payload = Vec::new();
    let got = input.take(u64::from(payload_len)).read_to_end(&mut payload)?;
    let len = (FIXED_LEN + got) as u64;
    if got < payload_len as usize {
        // A recorder writes its header at once: the file was cut later, or the length is wrong.
        return Err(OpenError::CutHeader { len });
    }
    let stored = u32::from_le_bytes(fixed[CHECKSUM_AT..].try_into().expect("four bytes"));
    if stored != checksum(&fixed, &payload) {
        return Err(OpenError::DamagedHeader);
    }
    let metadata = decode(&payload).map_err(|Malformed| OpenError::DamagedHeader)?;
    Ok(Header { version, metadata, len })
}

/// Whether nothing but zeros follows: a recorder that did not get to write its header leaves that.
pub(super) fn is_all_zeros(input: &mut impl Read) -> io::Result<bool> {
    let mut buffer = [0; 1 << 12];
    loop {
        match read_up_to(input, &mut buffer)? {
            0 => return Ok(true),
            len if buffer[..len].iter().any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}

fn checksum(fixed: &[u8; FIXED_LEN], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&fixed[..CHECKSUM_AT]);
    hasher.update(payload);
    hasher.finalize()
}

fn encode(metadata: &Metadata) -> Vec<u8> {
    let mut out = Vec::new();
    put_option(&mut out, metadata.program.as_deref(), put_str);
    put_u32(&mut out, u32::try_from(metadata.arguments.len()).unwrap_or(u32::MAX));
    for argument in &metadata.arguments {
        put_str(&mut out, argument);
    }
    put_option(&mut out, metadata.test.as_deref(), put_str);
    put_option(&mut out, metadata.started, put_u64);
    out
}

fn decode(mut input: &[u8]) -> Result<Metadata, Malformed> {
    let input = &mut input;
    let program = take_option(input, take_str)?.map(str::to_owned);
    let count = take_u32(input)?;
    let mut arguments = Vec::new();
    for _ in 0..count {
        arguments.push(take_str(input)?.to_owned());
    }
    let test = take_option(input, take_str)?.map(str::to_owned);
    let started = take_option(input, take_u64)?;
    if input.is_empty() {
        Ok(Metadata { program, arguments, test, started })
    } else {
        Err(Malformed)
    }
}

fn put_option<T>(out: &mut Vec<u8>, value: Option<T>, put: impl Fn(&mut Vec<u8>, T)) {
    put_u8(out, u8::from(value.is_some()));
    if let Some(value) = value {
        put(out, value);
    }
}

fn take_option<'a, T>(
    input: &mut &'a [u8],
    take: impl Fn(&mut &'a [u8]) -> Result<T, Malformed>,
) -> Result<Option<T>, Malformed> {
    match take_u8(input)? {
        0 => Ok(None),
        1 => take(input).map(Some),
        _ => Err(Malformed),
    }
}

/// Fills `buffer` as far as the input goes.
pub(crate) fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Metadata {
        Metadata {
            program: Some("target/debug/demo".into()),
            arguments: vec!["--fast".into(), "two words\n".into()],
            test: None,
            started: Some(1_700_000_000_000),
        }
    }

    #[test]
    fn metadata_comes_back() {
        for metadata in [sample(), Metadata::default()] {
            let mut bytes = Vec::new();
            write(&mut bytes, &metadata).unwrap();
            let expected = Header { version: VERSION, metadata, len: bytes.len() as u64 };
            assert_eq!(read(&mut &bytes[..]).unwrap(), expected);
        }
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_an_error() {
        let mut bytes = Vec::new();
        write(&mut bytes, &sample()).unwrap();
        for len in 0..bytes.len() {
            assert!(read(&mut &bytes[..len]).is_err(), "cut to {len}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&mut &damaged[..]).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Vec::new();
        write(&mut bytes, &Metadata::default()).unwrap();
        bytes[8] = 9;
        let error = read(&mut &bytes[..]).unwrap_err();
        assert!(matches!(error, OpenError::UnknownVersion { version: 9 }), "{error}");
    }
}
