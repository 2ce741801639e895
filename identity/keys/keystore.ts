// The keys that sign access tokens: ES256, made by us, published before they sign, kept until nothing signed with them lives.
import { sql } from 'drizzle-orm'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import { seal, unseal } from '../../shared/secrets/seal.ts'

const PURPOSE = 'signing-key'
/** A new key is in the key set this long before it signs: twice what clients may keep a copy. */
const PUBLISHED_BEFORE = '10 minutes'
const SIGNS_FOR = '90 days'
/** An old key stays far longer than any token signed with it. */
const KEPT_FOR = '1 day'
/** One process at a time makes a key. */
const LOCK = 7_243_120

export type SigningKey = { readonly kid: string; readonly key: Awaited<ReturnType<typeof importJWK>> }

type Row = { kid: string; public_jwk: JWK; private_jwk_sealed: string }

export type Keystore = {
  /** The public keys, newest first. */
  publicKeys(): Promise<JWK[]>
  /** The key to sign with now. */
  signingKey(): Promise<SigningKey>
  /** Makes the first key or the next one when it is time, and drops those whose time is over. Safe on any number of processes. */
  rotate(): Promise<void>
}

/** A keystore on the database. `secret` seals the private keys. */
export function createKeystore(database: Database, secret: string): Keystore {
  let signing: SigningKey | null = null
  return {
    publicKeys: () =>
      asSystem(database, 'identity', async tx => {
        const { rows } = await tx.execute<Row>(sql`select public_jwk from oauth_signing_keys order by signs_from desc`)
        return rows.map(row => row.public_jwk)
      }),
    signingKey: async () => {
      const row = await asSystem(database, 'identity', async tx => {
        const { rows } = await tx.execute<Row>(sql`
          select kid, private_jwk_sealed from oauth_signing_keys where signs_from <= identity_now() order by signs_from desc limit 1`)
        return rows[0]
      })
      if (!row) throw new Error('there is no key to sign tokens with')
      if (signing?.kid !== row.kid) {
        const jwk: JWK = JSON.parse(await unseal(secret, PURPOSE, row.private_jwk_sealed))
        signing = { kid: row.kid, key: await importJWK(jwk, 'ES256') }
      }
      return signing
    },
    rotate: async () => {
      const fresh = await newKey(secret)
      await asSystem(database, 'identity', tx => rotateNow(tx, fresh))
    },
  }
}

async function newKey(secret: string): Promise<Row> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const sealed = await seal(secret, PURPOSE, JSON.stringify(await exportJWK(privateKey)))
  return { kid, public_jwk: { ...jwk, kid, use: 'sig', alg: 'ES256' }, private_jwk_sealed: sealed }
}

async function rotateNow(tx: SystemTransaction, fresh: Row): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`)
  const { rows } = await tx.execute<{ first: boolean; due: boolean }>(sql`
    select count(*) = 0 as first,
      coalesce(max(signs_from) < identity_now() - ${SIGNS_FOR}::interval, true) as due from oauth_signing_keys`)
  const [state] = rows
  if (state?.due) {
    // The very first key signs at once: nobody can hold an older copy of the key set.
    const wait = state.first ? '0' : PUBLISHED_BEFORE
    await tx.execute(sql`
      insert into oauth_signing_keys (kid, public_jwk, private_jwk_sealed, signs_from)
      values (${fresh.kid}, ${JSON.stringify(fresh.public_jwk)}, ${fresh.private_jwk_sealed}, identity_now() + ${wait}::interval)`)
  }
  await tx.execute(sql`
    delete from oauth_signing_keys old where exists (
      select from oauth_signing_keys newer where newer.signs_from > old.signs_from
        and newer.signs_from < identity_now() - ${KEPT_FOR}::interval)`)
}
