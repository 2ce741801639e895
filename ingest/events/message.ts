// One log message while it fills. Lines are written to bytes at once: kept as text they were half of the gateway's time,
// because strings that outlive a collection of the young heap are copied, twice, before they are even flattened.
import { WIRE_VERSION } from '../../shared/contracts/usage-event.ts'
import { copyBytes, type Output, PADDING_BYTES } from './fast-path/bytes.ts'

const VERSION = Buffer.from(WIRE_VERSION)
const FIRST_BYTES = 16 * 1024
const NEW_LINE = 0x0a
const CARRIAGE_RETURN = 0x0d
/** Bytes left free before the body, and behind it, for what it is sent between. */
const HEAD_BYTES_MAX = 512
const END_BYTES = PADDING_BYTES

export class Message {
  private readonly bytesMax: number
  private buffer: Buffer
  private view: DataView
  private length: number
  lines = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
    this.buffer = Buffer.allocUnsafeSlow(HEAD_BYTES_MAX + Math.min(FIRST_BYTES, bytesMax) + END_BYTES)
    this.view = new DataView(this.buffer.buffer)
    this.length = VERSION.copy(this.buffer, HEAD_BYTES_MAX)
  }

  /** Whether a line of at most `bytes` bytes still fits. The first always does. */
  fits(bytes: number): boolean {
    return this.lines === 0 || this.length + 1 + bytes <= this.bytesMax
  }

  /** Bytes of the body. */
  get bytes(): number {
    return this.length
  }

  /** Adds the line that lies in `output` from `start` to `end`. `isAscii`: whether it is nothing else. */
  append({ bytes, view }: Output, start: number, end: number, isAscii: boolean): void {
    this.reserve(this.length + 1 + end - start)
    const at = HEAD_BYTES_MAX + this.length + 1
    this.buffer[at - 1] = NEW_LINE
    if (isAscii) copyBytes(view, start, end - start, this.view, at)
    else this.buffer.set(bytes.subarray(start, end), at)
    this.length += 1 + end - start
    this.lines += 1
  }

  /** Takes all lines out. What was handed out must not be needed any more. */
  clear(): void {
    this.length = VERSION.length
    this.lines = 0
  }

  private reserve(bytes: number): void {
    const whole = HEAD_BYTES_MAX + bytes + END_BYTES
    if (whole <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(whole, this.buffer.length * 2))
    this.buffer.copy(larger, HEAD_BYTES_MAX, HEAD_BYTES_MAX, HEAD_BYTES_MAX + this.length)
    this.buffer = larger
    this.view = new DataView(larger.buffer)
  }

  /** The body as it stands. */
  body(): Uint8Array {
    return this.buffer.subarray(HEAD_BYTES_MAX, HEAD_BYTES_MAX + this.length)
  }

  /**
   * The body behind `head`, of ASCII, and before the end of a line, as the broker's protocol wants it. Not a copy: it is
   * good until the message is cleared. Throws RangeError when the head is too long.
   */
  framed(head: string): Uint8Array {
    const start = HEAD_BYTES_MAX - head.length
    if (start < 0) throw new RangeError(`the head of a message is longer than ${HEAD_BYTES_MAX} bytes`)
    const end = HEAD_BYTES_MAX + this.length
    this.buffer.write(head, start, 'latin1')
    this.buffer[end] = CARRIAGE_RETURN
    this.buffer[end + 1] = NEW_LINE
    return this.buffer.subarray(start, end + 2)
  }
}
