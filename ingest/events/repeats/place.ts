// Where an event lies in its partition of the log, as one number, so that it fits beside the key of the event.

/** A message of the partition, and the line in it. */
export type Place = number
export const NO_PLACE: Place = 0

/** More lines than a message holds. Leaves 37 bits for the message, which is a hundred years at a thousand a second. */
const LINES = 2 ** 16

export const placeOf = (seq: number, line: number): Place => seq * LINES + line
export const seqOf = (place: Place): number => Math.floor(place / LINES)
export const lineOf = (place: Place): number => place % LINES
