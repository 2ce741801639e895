// Passkeys as a second factor (WebAuthn), always with user verification: the key alone, without finger, face or PIN, is not
// enough. Each challenge is ours, for one browser, good once and for five minutes.
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { looksLikeId, newId } from '../../shared/ids.ts'
import { readAssertion, readAttestation } from './read-credential.ts'

export const PASSKEYS_MAX = 10
const CHALLENGE_SECONDS = 300

export type Passkey = {
  readonly id: string
  readonly name: string
  /** Days, as text. */
  readonly addedOn: string
  readonly lastUsedOn: string | null
}

/** Whom passkeys are made for: the name of this host, and the address its pages are at. */
export type RelyingParty = { readonly rpId: string; readonly origin: string }

/** Null where browsers make no passkeys: at an address that is a number, or on plain http other than localhost. */
export function relyingPartyOf(identityUrl: string): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(identityUrl)
  const isNumber = hostname.startsWith('[') || /^[0-9.]+$/.test(hostname)
  const isSafe = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  return isNumber || !isSafe ? null : { rpId: hostname, origin }
}

/** The passkeys of a user, the oldest first. */
export async function listPasskeys(tx: SystemTransaction, userId: string): Promise<Passkey[]> {
  const { rows } = await tx.execute<{ id: string; name: string; added: string; used: string | null }>(sql`
    select id, name, to_char(created_at, 'YYYY-MM-DD') as added, to_char(last_used_at, 'YYYY-MM-DD') as used
    from user_passkeys where user_id = ${userId} order by created_at, id`)
  return rows.map(row => ({ id: row.id, name: row.name, addedOn: row.added, lastUsedOn: row.used }))
}

type Owned = { readonly userId: string /** The session or half-done sign-in that asks. */; readonly owner: string }

async function keep(tx: SystemTransaction, challenge: string, owner: string): Promise<void> {
  await tx.execute(sql`
    insert into passkey_challenges (challenge, owner, expires_at)
    values (${challenge}, ${owner}, identity_now() + make_interval(secs => ${CHALLENGE_SECONDS}))`)
}

/** Whether the challenge was made for this owner and lives; it is used up by this. */
async function take(tx: SystemTransaction, challenge: string, owner: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    delete from passkey_challenges where challenge = ${challenge} and owner = ${owner} and expires_at > identity_now() returning 1`)
  return rows.length > 0
}

const credentialsOf = async (tx: SystemTransaction, userId: string) => {
  const { rows } = await tx.execute<{ credential_id: string; transports: Transport[] }>(
    sql`select credential_id, transports from user_passkeys where user_id = ${userId}`,
  )
  return rows.map(row => ({ id: row.credential_id, transports: row.transports }))
}
type Transport = NonNullable<RegistrationResponseJSON['response']['transports']>[number]

/** What the browser needs to make a new passkey. */
export async function creationOptions(
  tx: SystemTransaction,
  party: RelyingParty,
  { userId, owner, username }: Owned & { readonly username: string },
): Promise<object> {
  const options = await generateRegistrationOptions({
    rpName: 'Millrace',
    rpID: party.rpId,
    userID: new TextEncoder().encode(userId),
    userName: username,
    attestationType: 'none',
    excludeCredentials: await credentialsOf(tx, userId),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
  })
  await keep(tx, options.challenge, owner)
  return options
}

/** What the browser needs to prove one of the user's passkeys; null when they have none. */
export async function requestOptions(
  tx: SystemTransaction,
  party: RelyingParty,
  { userId, owner }: Owned,
): Promise<object | null> {
  const allowCredentials = await credentialsOf(tx, userId)
  if (allowCredentials.length === 0) return null
  const options = await generateAuthenticationOptions({
    rpID: party.rpId,
    allowCredentials,
    userVerification: 'required',
  })
  await keep(tx, options.challenge, owner)
  return options
}

/** Stores the passkey that the browser made; false when what it sent is not one, made here, now and with verification. */
export async function addPasskey(
  tx: SystemTransaction,
  party: RelyingParty,
  { userId, owner, name, credential }: Owned & { readonly name: string; readonly credential: string },
): Promise<boolean> {
  const response = readAttestation(credential)
  if (response === null) return false
  // The library throws for most of what is wrong; a database that fails shows at the next statement.
  const made = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge => take(tx, challenge, owner),
    expectedOrigin: party.origin,
    expectedRPID: party.rpId,
    requireUserVerification: true,
  }).catch(() => null)
  if (!made?.verified) return false
  const { id, publicKey, counter } = made.registrationInfo.credential
  const transports = sql`array[${sql.join(
    (response.response.transports ?? []).map(each => sql`${each}`),
    sql`, `,
  )}]::text[]`
  const { rows } = await tx.execute(sql`
    insert into user_passkeys (id, user_id, credential_id, public_key, counter, transports, name)
    values (${newId('pkey')}, ${userId}, ${id}, ${Buffer.from(publicKey).toString('base64url')}, ${counter}, ${transports}, ${name})
    on conflict (credential_id) do nothing returning 1`)
  return rows.length > 0
}

/** Whether `credential` is a fresh signature with one of the user's passkeys. */
export async function usePasskey(
  tx: SystemTransaction,
  party: RelyingParty,
  { userId, owner, credential }: Owned & { readonly credential: string },
): Promise<boolean> {
  const response: AuthenticationResponseJSON | null = readAssertion(credential)
  if (response === null) return false
  const { rows } = await tx.execute<{ id: string; public_key: string; counter: string }>(sql`
    select id, public_key, counter from user_passkeys
    where user_id = ${userId} and credential_id = ${response.id} for update`)
  const [row] = rows
  if (!row) return false
  const proven = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge => take(tx, challenge, owner),
    expectedOrigin: party.origin,
    expectedRPID: party.rpId,
    requireUserVerification: true,
    // A counter that does not grow is a copy of the key; the library refuses it.
    credential: {
      id: response.id,
      publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
      counter: Number(row.counter),
    },
  }).catch(() => null)
  if (!proven?.verified) return false
  await tx.execute(sql`
    update user_passkeys set counter = ${proven.authenticationInfo.newCounter}, last_used_at = identity_now() where id = ${row.id}`)
  return true
}

/** Forgets a passkey of this user; false when they have none of that id. */
export async function removePasskey(tx: SystemTransaction, userId: string, id: string): Promise<boolean> {
  if (!looksLikeId(id)) return false
  const { rows } = await tx.execute(sql`delete from user_passkeys where id = ${id} and user_id = ${userId} returning 1`)
  return rows.length > 0
}

/** Forgets challenges nobody answered. */
export const removeOldChallenges = async (tx: SystemTransaction): Promise<void> => {
  await tx.execute(sql`delete from passkey_challenges where expires_at < identity_now()`)
}
