// A passkey made of software, for tests without a browser: answers the options of our pages as an authenticator would.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export type SoftwarePasskey = {
  /** The answer to `navigator.credentials.create`, as the page's script sends it. */
  attestation(page: string, more?: Signed): string
  /** The answer to `navigator.credentials.get`. */
  assertion(page: string, more?: Signed): string
}

/** What an attacker, or a lesser device, would do otherwise. */
type Signed = {
  readonly origin?: string
  readonly rpId?: string
  readonly userVerified?: boolean
  readonly counter?: number
}

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const CREDENTIAL_INCLUDED = 0x40

/** A new key, at a host. */
export function createSoftwarePasskey(origin: string): SoftwarePasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(16)
  let counter = 0
  const clientData = (type: string, page: string, more: Signed): Buffer =>
    Buffer.from(
      JSON.stringify({ type, challenge: challengeOf(page), origin: more.origin ?? origin, crossOrigin: false }),
    )
  const authData = (flags: number, more: Signed, rest = Buffer.alloc(0)): Buffer => {
    counter += 1
    const count = Buffer.alloc(4)
    count.writeUInt32BE(more.counter ?? counter)
    const verified = (more.userVerified ?? true) ? USER_VERIFIED : 0
    const rpIdHash = createHash('sha256')
      .update(more.rpId ?? new URL(origin).hostname)
      .digest()
    return Buffer.concat([rpIdHash, Buffer.from([USER_PRESENT | verified | flags]), count, rest])
  }
  const id = credentialId.toString('base64url')
  return {
    attestation: (page, more = {}) => {
      const key = cbor(
        new Map<number, unknown>([
          [1, 2], // EC2
          [3, -7], // ES256
          [-1, 1], // P-256
          [-2, Buffer.from(x, 'base64url')],
          [-3, Buffer.from(y, 'base64url')],
        ]),
      )
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, credentialId.length]), credentialId, key])
      const attestationObject = cbor(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData(CREDENTIAL_INCLUDED, more, credential)],
        ]),
      )
      const clientDataJSON = clientData('webauthn.create', page, more).toString('base64url')
      const response = {
        clientDataJSON,
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal', 'telepathy'],
      }
      return JSON.stringify({ id, response })
    },
    assertion: (page, more = {}) => {
      const data = clientData('webauthn.get', page, more)
      const authenticatorData = authData(0, more)
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(data).digest()])
      const response = {
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      }
      return JSON.stringify({ id, response })
    },
  }
}

/** The challenge in the options of a page. */
function challengeOf(page: string): string {
  const options = /data-options="([^"]*)"/.exec(page)?.[1]?.replaceAll('&quot;', '"')
  if (options === undefined) throw new Error('the page asks for no passkey')
  return JSON.parse(options).challenge
}

/** As much of CBOR (RFC 8949) as authenticators write. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Map) return Buffer.concat([head(5, value.size), ...[...value].flat().map(cbor)])
  throw new Error(`not written here: ${typeof value}`)
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
