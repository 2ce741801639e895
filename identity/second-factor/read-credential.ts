// What a browser sends as its passkey, read into fresh objects with the members that count and nothing else.
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import Type from 'typebox'
import { Value } from 'typebox/value'

const Bytes = Type.String({ pattern: '^[A-Za-z0-9_-]{1,8192}$' })
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const

const Attestation = Type.Object({
  id: Bytes,
  response: Type.Object({
    clientDataJSON: Bytes,
    attestationObject: Bytes,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
  }),
})
const Assertion = Type.Object({
  id: Bytes,
  response: Type.Object({ clientDataJSON: Bytes, authenticatorData: Bytes, signature: Bytes }),
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A passkey that was just made, or null when `text` is not one. Transports nobody knows are left out. */
export function readAttestation(text: string): RegistrationResponseJSON | null {
  const value = parsed(text)
  if (!Value.Check(Attestation, value)) return null
  const { clientDataJSON, attestationObject, transports = [] } = value.response
  const known = TRANSPORTS.filter(each => transports.includes(each))
  const response = { clientDataJSON, attestationObject, transports: known }
  return { id: value.id, rawId: value.id, type: 'public-key', clientExtensionResults: {}, response }
}

/** A proof of a passkey, or null when `text` is not one. */
export function readAssertion(text: string): AuthenticationResponseJSON | null {
  const value = parsed(text)
  if (!Value.Check(Assertion, value)) return null
  const { clientDataJSON, authenticatorData, signature } = value.response
  const response = { clientDataJSON, authenticatorData, signature }
  return { id: value.id, rawId: value.id, type: 'public-key', clientExtensionResults: {}, response }
}
