//! Files that are cut off or damaged: never a panic, never a wrong event, always everything before
//! the damage.

use std::collections::HashMap;

use predictor::trace::format::Format;
use racelog::trace::binary::Writer;
use racelog::trace::{End, Item, ThreadId};
use racelog_tests::fuzz::assert_has_place;
use racelog_tests::random_trace::{ALL, Family, Shape, random_trace, rng};
use rand::RngExt;

use crate::support::{Contents, convert, read};

/// A chunk of a file, found by the drawing in docs/TRACE_FORMAT.md and not by the reader.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    end: usize,
    kind: u8,
    thread: ThreadId,
    events: usize,
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// Where the header ends, and the chunks after it.
fn chunks(bytes: &[u8]) -> (usize, Vec<Chunk>) {
    let header = 20 + u32_at(bytes, 12);
    let mut chunks = Vec::new();
    let mut at = header;
    while at < bytes.len() {
        assert_eq!(&bytes[at..at + 4], b"RLck");
        let end = at + 40 + u32_at(bytes, at + 12);
        let thread = ThreadId::new(u32_at(bytes, at + 8) as u32);
        let events = u32_at(bytes, at + 16);
        chunks.push(Chunk { end, kind: bytes[at + 4], thread, events });
        at = end;
    }
    (header, chunks)
}

/// The events of the chunks that end at or before a byte.
fn before(items: &[Item], chunks: &[Chunk], byte: usize) -> Vec<Item> {
    let whole: Vec<&Chunk> = chunks.iter().take_while(|chunk| chunk.end <= byte).collect();
    let mut left: HashMap<ThreadId, usize> = HashMap::new();
    for chunk in whole.iter().filter(|chunk| chunk.kind == 1) {
        *left.entry(chunk.thread).or_default() += chunk.events;
    }
    let kept = |item: &&Item| match item {
        Item::Init { .. } | Item::Request(_) | Item::Said { .. } => {
            unreachable!("these traces have none")
        }
        Item::Event(event) => match left.get_mut(&event.thread) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        },
    };
    items.iter().filter(kept).copied().collect()
}

/// A trace of many small chunks.
fn many_chunks(seed: u64) -> (Vec<u8>, Vec<Item>) {
    let operations = ALL.into_iter().filter(|family| *family != Family::Barrier).collect();
    let shape = Shape { events: 2000, vars: 30, objects: 4, operations, ..Shape::default() };
    let text = random_trace(seed, &shape);
    let Contents { metadata, dictionary, mut items, .. } =
        read(text.as_bytes(), Format::Text).unwrap();
    items.retain(|item| matches!(item, Item::Event(_)));
    let mut writer = Writer::with_chunk_size(Vec::new(), &metadata, 256).unwrap();
    for item in &items {
        writer.write(&dictionary, item).unwrap();
    }
    (writer.finish(&dictionary, End::Clean).unwrap(), items)
}

/// Reads a damaged file and checks that it yields just what stands before the damage.
fn check(damaged: &[u8], items: &[Item], header: usize, chunks: &[Chunk], byte: usize) {
    match read(damaged, Format::Binary) {
        Ok(contents) => {
            assert!(contents.items == before(items, chunks, byte), "damage at byte {byte}");
            let at_boundary = damaged.len() == byte
                && (byte <= header || chunks.iter().any(|chunk| chunk.end == byte));
            assert_eq!(contents.error.is_none(), at_boundary, "damage at byte {byte}");
            if let Some(error) = contents.error {
                assert_has_place(&error.to_string());
            }
        }
        Err(error) => {
            assert!(
                byte < header,
                "nothing was read, though the damage is at byte {byte}: {error}"
            );
            assert_has_place(&error.to_string());
        }
    }
}

#[test]
fn a_binary_file_cut_anywhere_yields_all_whole_chunks() {
    let (bytes, items) = many_chunks(1);
    let (header, chunks) = chunks(&bytes);
    assert!(chunks.len() > 30, "only {} chunks", chunks.len());
    for byte in 0..bytes.len() {
        check(&bytes[..byte], &items, header, &chunks, byte);
    }
}

#[test]
fn a_binary_file_with_flipped_bytes_yields_all_chunks_before() {
    let mut rng = rng(2);
    for seed in 0..20 {
        let (bytes, items) = many_chunks(seed);
        let (header, chunks) = chunks(&bytes);
        for _ in 0..100 {
            let mut damaged = bytes.clone();
            let mut first = bytes.len();
            for _ in 0..rng.random_range(1..5) {
                let at = rng.random_range(0..bytes.len());
                damaged[at] ^= rng.random_range(1..=255u8);
                first = first.min(at);
            }
            if damaged != bytes {
                first = (0..bytes.len()).find(|at| damaged[*at] != bytes[*at]).unwrap();
                check(&damaged, &items, header, &chunks, first);
            }
        }
    }
}

#[test]
fn what_was_lost_is_said() {
    let (bytes, _) = many_chunks(3);
    let (_, chunks) = chunks(&bytes);
    let damaged_chunk = chunks.len() / 2;
    let start = chunks[damaged_chunk - 1].end;
    let mut damaged = bytes.clone();
    damaged[start + 41] ^= 1;
    let error = read(&damaged, Format::Binary).unwrap().error.unwrap().to_string();
    let lost: usize = chunks[damaged_chunk..].iter().map(|chunk| chunk.events).sum();
    let expected = format!(
        "byte {start}: the checksum of the chunk does not fit; {} bytes from here on were not \
         used, {lost} or more events among them",
        bytes.len() - start
    );
    assert_eq!(error, expected);
}

#[test]
fn a_swapped_or_repeated_chunk_is_damage() {
    let (bytes, items) = many_chunks(4);
    let (header, chunks) = chunks(&bytes);
    let repeated = chunks.iter().rposition(|chunk| chunk.kind == 1).unwrap();
    let start = chunks[repeated - 1].end;
    let end = chunks[repeated].end;
    let mut damaged = bytes.clone();
    damaged.splice(end..end, bytes[start..end].iter().copied());
    check(&damaged, &items, header, &chunks, end);
}

/// Text has no checksums: a flipped byte may make another event, but only on its own line.
fn check_lines(text: &str, format: Format, seed: u64) {
    let whole = read(text.as_bytes(), format).unwrap();
    let mut rng = rng(seed);
    for _ in 0..300 {
        let mut damaged = text.as_bytes().to_vec();
        let at = rng.random_range(0..damaged.len());
        if rng.random_bool(0.5) {
            damaged.truncate(at);
        } else {
            damaged[at] ^= rng.random_range(1..=255u8);
        }
        let before = &text[..text[..at].rfind('\n').map_or(0, |end| end + 1)];
        let expected = read(before.as_bytes(), format).unwrap().items;
        assert!(whole.items.starts_with(&expected));
        match read(&damaged, format) {
            Ok(contents) => {
                assert!(contents.items.starts_with(&expected), "damage at byte {at}");
                if let Some(error) = contents.error {
                    assert_has_place(&error.to_string());
                }
            }
            Err(error) => {
                assert!(expected.is_empty(), "damage at byte {at}");
                assert_has_place(&error.to_string());
            }
        }
    }
}

#[test]
fn a_damaged_text_yields_all_lines_before() {
    for seed in 0..20 {
        check_lines(&random_trace(seed, &Shape::default()), Format::Text, seed);
    }
}

#[test]
fn a_damaged_std_trace_yields_all_lines_before() {
    for seed in 0..20 {
        let operations = vec![Family::Plain, Family::Branch];
        let text = random_trace(seed, &Shape { operations, ..Shape::default() });
        let std = convert(text.as_bytes(), Format::Text, Format::Std);
        check_lines(&String::from_utf8(std).unwrap(), Format::Std, seed);
    }
}
