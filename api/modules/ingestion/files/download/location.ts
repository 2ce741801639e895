// The address of a file in two parts: the one that is shown, and the one that opens it for anyone who has it.

/** `location`: protocol, host and path. `query`: with its `?`, or null. What follows a `#` is never sent, so it is dropped. */
export const splitLocation = ({ origin, pathname, search }: URL): { location: string; query: string | null } => ({
  location: `${origin}${pathname}`,
  query: search === '' ? null : search,
})
