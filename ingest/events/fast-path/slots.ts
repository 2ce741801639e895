// What goes between the pieces of a template: where each text starts in the input, and its length.
import { SLOTS_MAX } from './shape.ts'

export class Slots {
  readonly starts = new Int32Array(SLOTS_MAX)
  readonly lengths = new Int32Array(SLOTS_MAX)

  put(slot: number, start: number, end: number): void {
    this.starts[slot] = start
    this.lengths[slot] = end - start
  }
}
