// Where a person goes who has just signed in.

/** To the authorization request that waits for them, by its id, or home. Never to an address out of the browser. */
export const redirectAfterSignIn = (waiting: string | null): string =>
  waiting === null ? '/' : `/consent?request=${waiting}`
