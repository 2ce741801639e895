/**
 * Written first in a literal that starts with another spread, as in `{ ...NO_MEMBERS, ...value, name }`: its objects are then of one hidden
 * class. Up to version 20, Node gives each `{ ...value, name }` a class of its own if `value` has no such name, which takes a microsecond
 * and kilobytes, and makes whatever reads the object slower. It matters where thousands are made; a member before the spread helps as well.
 */
export const NO_MEMBERS = {}

/** `{ ...value, ...more }`, with the members in that order and one hidden class for objects alike. */
export const extended = <T extends object, More extends object>(value: T, more: More): T & More => ({
  ...NO_MEMBERS,
  ...value,
  ...more,
})
