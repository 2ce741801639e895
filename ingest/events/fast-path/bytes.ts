// Texts as bytes, compared and copied eight at a time. A copy may write up to seven bytes more than it says, and a
// comparison look as far ahead, so everything here has room after its end.
//
// Eight bytes are copied and compared as a floating-point number, the widest thing JavaScript moves without making an object
// of it. That is exact unless the bytes are those of a NaN or of a negative zero, and ASCII is neither: so nothing but ASCII
// may come in here.
import { isAscii } from 'node:buffer'

/** Bytes after the end of everything that is copied or compared. */
export const PADDING_BYTES = 64
const WIDE = 8

/** A text of one byte a character that is compared with, or copied, again and again. */
export class AsciiText {
  readonly length: number
  readonly view: DataView

  constructor(text: string) {
    const bytes = Buffer.alloc(text.length + PADDING_BYTES)
    bytes.write(text, 'latin1')
    this.length = text.length
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }
}

/** Copies bytes of ASCII; returns where the copy ends. */
export function copyBytes(from: DataView, start: number, length: number, to: DataView, at: number): number {
  for (let each = 0; each < length; each += WIDE) to.setFloat64(at + each, from.getFloat64(start + each, true), true)
  return at + length
}

/** Writes the piece at `at`; returns where it ends. */
export const putText = (piece: AsciiText, to: DataView, at: number): number =>
  copyBytes(piece.view, 0, piece.length, to, at)

/** Writes one byte, of a character below 128; returns the place after it. */
export function putByte(byte: number, to: DataView, at: number): number {
  to.setUint8(at, byte)
  return at + 1
}

/** Whether the piece stands at `at`. */
export function isTextAt(view: DataView, at: number, piece: AsciiText): boolean {
  const { length, view: wanted } = piece
  if (length < WIDE) {
    for (let each = 0; each < length; each += 1) if (view.getUint8(at + each) !== wanted.getUint8(each)) return false
    return true
  }
  // The last bytes overlap those before them; they differ most often, so they come first.
  const last = length - WIDE
  if (view.getFloat64(at + last, true) !== wanted.getFloat64(last, true)) return false
  for (let each = 0; each < last; each += WIDE) {
    if (view.getFloat64(at + each, true) !== wanted.getFloat64(each, true)) return false
  }
  return true
}

/** Bytes that are written from the start and grow on request. */
export class Output {
  bytes: Buffer
  view: DataView

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Makes room for `more` bytes after the first `used`, which stay. */
  reserve(used: number, more: number): void {
    const needed = used + more + PADDING_BYTES
    if (needed <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(larger, 0, 0, used)
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }
}

const NOTES = 256

/** A request's body, followed by a zero byte that no text of it can match, and by some bytes to write on. */
export class Input {
  readonly bytes: Buffer
  readonly view: DataView
  /** Where NOTES bytes may be written that go between pieces like the texts of the body. */
  readonly notes: number
  /** Bytes of the body. */
  length = 0
  private readonly capacity: number

  constructor(capacity: number) {
    this.capacity = capacity
    this.notes = capacity + PADDING_BYTES
    this.bytes = Buffer.alloc(this.notes + NOTES + PADDING_BYTES)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
  }

  /** Takes a copy of the body; false when it is too long or not ASCII. */
  load(body: Uint8Array): boolean {
    if (body.length > this.capacity || !isAscii(body)) return false
    this.bytes.set(body)
    this.bytes[body.length] = 0
    this.length = body.length
    return true
  }

  /** The text between two places, of one byte a character. */
  text(start: number, end: number): string {
    return this.bytes.toString('latin1', start, end)
  }
}
