// Choosing a password through a link from a mail: to reset it, or to begin. The page and its JSON twin end here.
import { asSystem, type SystemTransaction } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { consumeLink, type LinkPurpose, type OpenLink, readLink } from '../mail/one-time-links.ts'
import { requiresSecondFactor } from '../second-factor/factors.ts'
import { passwordFault } from './rules.ts'
import { setPassword, storedPassword } from './set-password.ts'

/** Tokens of ours; anything else is not looked up. */
const TOKEN = /^[\w-]{43}$/

export type PasswordChange =
  | { readonly kind: 'done'; readonly link: OpenLink }
  /** Unknown, used, too old, or what it was for is over: all one. */
  | { readonly kind: 'no-link' }
  | { readonly kind: 'fault'; readonly fault: string }

/** What a link is for, or null when it does not work. Looking does not use it up: mail programs look at links too. */
export async function findLink(deps: IdentityDeps, token: unknown, purpose: LinkPurpose): Promise<OpenLink | null> {
  if (typeof token !== 'string' || !TOKEN.test(token)) return null
  return await asSystem(deps.database, 'identity', tx => readLink(tx, token, purpose))
}

/** Sets the password and uses the link up, both or neither; `also` is done with them. */
export async function choosePassword(
  deps: IdentityDeps,
  given: { readonly token: string; readonly password: string; readonly purpose: LinkPurpose },
  also: (tx: SystemTransaction, link: OpenLink) => Promise<void>,
): Promise<PasswordChange> {
  const open = await findLink(deps, given.token, given.purpose)
  if (!open) return { kind: 'no-link' }
  const secondFactor = await asSystem(deps.database, 'identity', tx => requiresSecondFactor(tx, open.userId))
  const fault = passwordFault(given.password, { username: open.username, secondFactor })
  if (fault !== null) return { kind: 'fault', fault }
  const stored = await storedPassword(given.password, open.username)
  return await asSystem(deps.database, 'identity', async tx => {
    const link = await consumeLink(tx, given.token, given.purpose)
    if (!link) return { kind: 'no-link' }
    await setPassword(tx, link, stored)
    await also(tx, link)
    return { kind: 'done', link }
  })
}
