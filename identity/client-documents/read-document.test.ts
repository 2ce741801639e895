import { expect, test } from 'vitest'
import { InvalidDocument, readDocument } from './read-document.ts'

const ID = 'https://app.example/client.json'
const RIGHT = { client_id: ID, client_name: 'Agent', redirect_uris: ['http://127.0.0.1/callback'] }
const read = (document: unknown) => readDocument(JSON.stringify(document), ID, [])

test('a document gives a name and the addresses that may be registered here; the rest of it may be anything', () => {
  const document = read({
    ...RIGHT,
    redirect_uris: [
      'https://app.example/callback',
      'cursor://callback',
      'javascript:alert(1)',
      7,
      'http://app.example/',
    ],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    logo_uri: 'https://evil.example/logo.png',
    jwks: 'nothing of the kind',
  })
  expect(document).toEqual({ name: 'Agent', redirectUris: ['https://app.example/callback'] })
  expect(read({ client_id: ID, redirect_uris: RIGHT.redirect_uris }).name).toBe('Unnamed application')
})

test.each([
  ['another client_id', { ...RIGHT, client_id: 'https://app.example/other.json' }, 'client_id must be the address'],
  ['the address in capitals', { ...RIGHT, client_id: ID.toUpperCase() }, 'client_id must be the address'],
  ['no client_id', { redirect_uris: RIGHT.redirect_uris }, 'client_id must be the address'],
  ['a client_id that is a list', { ...RIGHT, client_id: [ID] }, 'client_id must be the address'],
  ['a secret', { ...RIGHT, client_secret: 'x' }, 'client_secret must not be there'],
  ['a secret that is empty', { ...RIGHT, client_secret: '' }, 'client_secret must not be there'],
  ['the end of a secret', { ...RIGHT, client_secret_expires_at: 0 }, 'client_secret_expires_at must not'],
  ['a shared secret', { ...RIGHT, token_endpoint_auth_method: 'client_secret_basic' }, 'must be none'],
  ['keys of its own', { ...RIGHT, token_endpoint_auth_method: 'private_key_jwt' }, 'must be none'],
  ['a method that is no text', { ...RIGHT, token_endpoint_auth_method: ['none'] }, 'must be none'],
  ['other grants alone', { ...RIGHT, grant_types: ['client_credentials'] }, 'grant_types must list authorization_code'],
  ['grants that are no list', { ...RIGHT, grant_types: 'authorization_code' }, 'grant_types must list'],
  ['other answers alone', { ...RIGHT, response_types: ['token'] }, 'response_types must list code'],
  ['no redirect_uris', { client_id: ID }, 'redirect_uris must be an array'],
  [
    'redirect_uris that are a text',
    { ...RIGHT, redirect_uris: 'https://app.example/' },
    'redirect_uris must be an array',
  ],
  ['none that may be used', { ...RIGHT, redirect_uris: ['http://app.example/', 'data:x'] }, 'holds no address'],
  ['too many', { ...RIGHT, redirect_uris: Array.from({ length: 51 }, () => 'https://app.example/') }, 'at most 50'],
  ['a name that turns round', { ...RIGHT, client_name: 'a\u202eb' }, 'client_name holds a character'],
  ['our name', { ...RIGHT, client_name: 'Millrace' }, 'client_name must not look like'],
  ['our name in other letters', { ...RIGHT, client_name: 'Mіllrace' }, 'client_name must not look like'],
  ['a name that is no text', { ...RIGHT, client_name: {} }, 'client_name must be a string'],
  ['a list', [RIGHT], 'must be a JSON object'],
  ['null', null, 'must be a JSON object'],
])('a document with %s is refused', (_name, document, reason) => {
  expect(() => read(document)).toThrow(InvalidDocument)
  expect(() => read(document)).toThrow(reason)
})

test.each(['', '{', 'client_id=x', '\u0000'])('%j is no document', text => {
  expect(() => readDocument(text, ID, [])).toThrow('it is not JSON')
})

test('what stands in the prototype of an object is not taken for the document’s', () => {
  expect(() => readDocument(`{"__proto__": ${JSON.stringify(RIGHT)}}`, ID, [])).toThrow('client_id must be')
})
