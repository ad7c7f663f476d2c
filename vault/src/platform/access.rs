//! Reads an owner and an access list as Windows writes them (SDDL, [MS-DTYP] 2.5.1), and says in mode bits what others may do.
//! Must never take what it cannot read for harmless.

/// You, the system and its administrators, whom no access list keeps out.
pub(super) const OURS: u32 = 0;

/// Anybody else.
pub(super) const OTHERS: u32 = 1;

/// Whoever may do anything anyway: the system, its administrators, and the service that looks after its files.
const SYSTEMS: [&str; 3] = ["SY", "BA", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"];

/// Rights by which what lies in a directory could be swapped for something else, or the directory itself: to delete a child,
/// to delete it, to change its list or its owner, and all that contain these.
const SWAP: u32 = 0x40 | 0x1_0000 | 0x4_0000 | 0x8_0000 | 0x1000_0000 | 0x4000_0000;

/// Rights by which a file could be changed: to write, to append, to write attributes, and the above.
const CHANGE: u32 = 0x2 | 0x4 | 0x10 | 0x100 | SWAP;

/// Rights as two letters, where they are not written as a number.
const LETTERS: [(&str, u32); 21] = [
    ("GA", 0x1000_0000),
    ("GR", 0x8000_0000),
    ("GW", 0x4000_0000),
    ("GX", 0x2000_0000),
    ("FA", 0x1f_01ff),
    ("FR", 0x12_0089),
    ("FW", 0x12_0116),
    ("FX", 0x12_00a0),
    ("RC", 0x2_0000),
    ("SD", 0x1_0000),
    ("WD", 0x4_0000),
    ("WO", 0x8_0000),
    ("CC", 0x1),
    ("DC", 0x2),
    ("LC", 0x4),
    ("SW", 0x8),
    ("RP", 0x10),
    ("WP", 0x20),
    ("DT", 0x40),
    ("LO", 0x80),
    ("CR", 0x100),
];

/// Whether the rights are those on a directory or on anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Directory,
    File,
}

/// Whose it is, and who may do what, for a user who is written `us`.
pub(super) fn read(sddl: &str, us: &str, of: Of) -> (u32, u32) {
    let owner = between(sddl, "O:", &["G:", "D:", "S:"]).unwrap_or_default();
    let owner = if is_trusted(owner, us) { OURS } else { OTHERS };
    let list = between(sddl, "D:", &["S:("]).unwrap_or("NO_ACCESS_CONTROL");
    let flags = list.split('(').next().unwrap_or_default();
    let mut mode = 0o700;
    if flags.contains("NO_ACCESS_CONTROL") {
        mode |= 0o077;
    }
    for entry in list.split('(').skip(1) {
        mode |= allowed(entry.trim_end_matches(')'), us, of);
    }
    (owner, mode)
}

/// The text after `mark`, up to the first of `ends`.
fn between<'text>(text: &'text str, mark: &str, ends: &[&str]) -> Option<&'text str> {
    let rest = text.split_once(mark)?.1;
    let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    rest.get(..end)
}

fn is_trusted(who: &str, us: &str) -> bool {
    who == us || SYSTEMS.contains(&who)
}

/// What one entry lets others do, as mode bits.
fn allowed(entry: &str, us: &str, of: Of) -> u32 {
    let mut parts = entry.split(';');
    let (Some(kind), Some(flags), Some(rights)) = (parts.next(), parts.next(), parts.next()) else { return 0o077 };
    let Some(who) = parts.nth(2) else { return 0o077 };
    let for_children_alone = pairs(flags).any(|flag| flag == "IO");
    match kind {
        // It only takes away.
        "D" => 0,
        "A" if is_trusted(who, us) || who == "OW" => 0,
        // Whoever makes a file in here owns it; who that may be is another entry's to say.
        "A" if who == "CO" && for_children_alone => 0,
        "A" if for_children_alone => 0o055,
        "A" => match (number(rights), of) {
            (Some(0), _) => 0,
            (Some(rights), Of::Directory) if rights & SWAP == 0 => 0o055,
            (Some(rights), Of::File) if rights & CHANGE == 0 => 0o055,
            _ => 0o077,
        },
        _ => 0o077,
    }
}

/// Rights as bits; `None` where they are written in a way that is not known.
fn number(rights: &str) -> Option<u32> {
    if let Some(digits) = rights.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    pairs(rights).try_fold(0, |sum, pair| {
        let (_, bits) = LETTERS.iter().find(|(letters, _)| *letters == pair)?;
        Some(sum | bits)
    })
}

fn pairs(text: &str) -> impl Iterator<Item = &str> {
    let at = |start: usize| text.get(start..start.saturating_add(2)).or_else(|| text.get(start..));
    (0..text.len()).step_by(2).filter_map(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: &str = "S-1-5-21-1-2-3-1001";

    fn folder(sddl: &str) -> (u32, u32) {
        read(&sddl.replace("ME", US), US, Of::Directory)
    }

    #[test]
    fn a_list_of_the_system_and_us_is_private() {
        for sddl in [
            "O:MED:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;ME)",
            "O:MEG:S-1-5-21-1-2-3-513D:AI(A;ID;FA;;;SY)(A;ID;FA;;;ME)",
            "O:BAG:BAD:P(A;;0x1f01ff;;;ME)(A;OICIIO;GA;;;CO)(D;;FA;;;WD)",
        ] {
            assert_eq!(folder(sddl), (OURS, 0o700), "{sddl}");
            assert_eq!(read(&sddl.replace("ME", US), US, Of::File), (OURS, 0o700), "{sddl}");
        }
        assert_eq!(folder("O:MED:P").1, 0o700, "an empty list lets nobody in");
    }

    #[test]
    fn somebody_elses_is_seen() {
        for owner in ["S-1-5-21-1-2-3-10011", "S-1-5-21-1-2-3-100", "WD", "LA", ""] {
            assert_eq!(folder(&format!("O:{owner}D:P(A;;FA;;;ME)")).0, OTHERS, "{owner}");
        }
        assert_eq!(folder("D:P(A;;FA;;;ME)").0, OTHERS, "no owner at all");
    }

    #[test]
    fn a_drive_and_the_folder_of_users_may_be_above_us_and_an_open_folder_may_not() {
        // As Windows 11 makes `C:\` and `C:\Users`.
        for sddl in [
            "O:S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464D:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;0x1200a9;;;BU)(A;OICIIO;SDGXGWGR;;;AU)(A;;LC;;;AU)",
            "O:SYD:PAI(A;OICI;0x1200a9;;;BU)(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;0x1200a9;;;WD)",
        ] {
            assert_eq!(folder(sddl), (OURS, 0o755), "{sddl}");
        }
        for rights in ["FA", "0x1301bf", "SD", "DT", "GW", "GA", "WD", "WO", "RCWD", "KA", "F", "0x", "0xzz"] {
            assert_eq!(folder(&format!("O:MED:AI(A;OICI;{rights};;;AU)")).1, 0o777, "{rights}");
        }
        for list in
            ["", "D:NO_ACCESS_CONTROL", "D:P(A;;FA)", "D:P(XA;;FR;;;WD;(x))", "D:P(OA;;FR;;;WD)", "D:P(A;;FW;;;WD"]
        {
            assert_eq!(read(&format!("O:{US}{list}"), US, Of::File).1, 0o777, "{list}");
        }
    }

    #[test]
    fn a_file_that_others_read_or_write_is_no_private_one() {
        let file = |rights: &str| read(&format!("O:{US}D:AI(A;ID;{rights};;;BU)"), US, Of::File).1;
        assert_eq!(file("FR"), 0o755);
        assert_eq!(file("0x1200a9"), 0o755);
        for rights in ["FW", "DC", "LC", "CR", "SD", "0x1301bf"] {
            assert_eq!(file(rights), 0o777, "{rights}");
        }
    }
}
