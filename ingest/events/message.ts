// One log message while it fills. Lines are written to bytes at once: kept as text they were half of the gateway's time,
// because strings that outlive a collection of the young heap are copied, twice, before they are even flattened.
import { WIRE_VERSION } from '../../shared/contracts/usage-event.ts'

const VERSION = Buffer.from(WIRE_VERSION)
const FIRST_BYTES = 16 * 1024
const NEW_LINE = 0x0a

export class Message {
  private readonly bytesMax: number
  private buffer: Buffer
  private length: number
  lines = 0

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
    this.buffer = Buffer.allocUnsafeSlow(Math.min(FIRST_BYTES, bytesMax))
    this.length = VERSION.copy(this.buffer)
  }

  /** Whether a line of at most `bytes` bytes still fits. The first always does. */
  fits(bytes: number): boolean {
    return this.lines === 0 || this.length + 1 + bytes <= this.bytesMax
  }

  /** Adds the line that lies in `bytes` from `start` to `end`. */
  append(bytes: Uint8Array, start: number, end: number): void {
    this.reserve(this.length + 1 + end - start)
    this.buffer[this.length] = NEW_LINE
    this.buffer.set(bytes.subarray(start, end), this.length + 1)
    this.length += 1 + end - start
    this.lines += 1
  }

  /** Takes all lines out. The body that was handed out must not be needed any more. */
  clear(): void {
    this.length = VERSION.length
    this.lines = 0
  }

  private reserve(bytes: number): void {
    if (bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, this.buffer.length * 2))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
  }

  /** The body as it stands. */
  body(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }
}
