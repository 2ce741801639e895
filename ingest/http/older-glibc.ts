// Makes a shared object that was built with glibc 2.38 load with one a little older, as Debian 12 has. Compiled with the headers
// of 2.38, `strtol`, `strtoul` and `sscanf` are called by new names, `__isoc23_strtol` and so on, which differ in taking `0b101`
// for a number; where those three are all that is new, the copy made here asks for them by their old names again.
// The layout is that of ELF for 64 bits, little-endian: x64 and arm64.

const NEW_VERSION = 'GLIBC_2.38'
const NEW_NAMES = ['__isoc23_sscanf', '__isoc23_strtol', '__isoc23_strtoul']
const PREFIX_BYTES = '__isoc23_'.length

const SECTION = { dynamicSymbols: 11, versionNeeds: 0x6ffffffe, symbolVersions: 0x6fffffff } as const
const SYMBOL_BYTES = 24
const VERSION_BYTES = 2
/** Bound to whatever version of the symbol the library has. */
const ANY_VERSION = 1
/** A version the loader may go without. */
const WEAK = 2

type Section = { readonly type: number; readonly offset: number; readonly bytes: number; readonly strings: number }

function sectionsOf(file: Buffer): Section[] {
  const [table, entryBytes, count] = [
    Number(file.readBigUInt64LE(0x28)),
    file.readUInt16LE(0x3a),
    file.readUInt16LE(0x3c),
  ]
  const offsetOf = (index: number): number => Number(file.readBigUInt64LE(table + index * entryBytes + 24))
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * entryBytes
    return {
      type: file.readUInt32LE(at + 4),
      offset: offsetOf(index),
      bytes: Number(file.readBigUInt64LE(at + 32)),
      strings: offsetOf(file.readUInt32LE(at + 40)),
    }
  })
}

function find(sections: readonly Section[], type: number): Section {
  const found = sections.find(section => section.type === type)
  if (!found) throw new Error('it is no shared object with versions of symbols')
  return found
}

const textAt = (file: Buffer, at: number): string => file.toString('latin1', at, file.indexOf(0, at))

/** Where the needed version stands in the file. Throws when the object does not need it. */
function versionAt(file: Buffer, { offset, strings }: Section): number {
  for (let library = offset; ; ) {
    let version = library + file.readUInt32LE(library + 8)
    for (let left = file.readUInt16LE(library + 2); left > 0; left -= 1) {
      if (textAt(file, strings + file.readUInt32LE(version + 8)) === NEW_VERSION) return version
      version += file.readUInt32LE(version + 12)
    }
    const next = file.readUInt32LE(library + 12)
    if (next === 0) throw new Error(`it needs no ${NEW_VERSION}`)
    library += next
  }
}

/** A copy of the object that does without glibc 2.38. Throws when it needs more of it than the three functions. */
export function forOlderGlibc(original: Buffer): Buffer {
  const file = Buffer.from(original)
  const sections = sectionsOf(file)
  const symbols = find(sections, SECTION.dynamicSymbols)
  const versions = find(sections, SECTION.symbolVersions)
  const needed = versionAt(file, find(sections, SECTION.versionNeeds))
  file.writeUInt16LE(file.readUInt16LE(needed + 4) | WEAK, needed + 4)
  const newVersion = file.readUInt16LE(needed + 6)
  for (let index = 0; index < symbols.bytes / SYMBOL_BYTES; index += 1) {
    const version = versions.offset + index * VERSION_BYTES
    if (file.readUInt16LE(version) !== newVersion) continue
    const symbol = symbols.offset + index * SYMBOL_BYTES
    const nameAt = file.readUInt32LE(symbol)
    const name = textAt(file, symbols.strings + nameAt)
    if (!NEW_NAMES.includes(name)) throw new Error(`it needs ${name} of ${NEW_VERSION}`)
    // The old name is the end of the new one.
    file.writeUInt32LE(nameAt + PREFIX_BYTES, symbol)
    file.writeUInt16LE(ANY_VERSION, version)
  }
  return file
}
