import { expect, test } from 'vitest'
import { checkResource } from './resource.ts'
import { requestedScopes, scopesOfRefresh } from './scope.ts'

test.each([
  [undefined, ['service:read']],
  ['', ['service:read']],
  ['foo bar', ['service:read']],
  ['offline_access service:write', ['service:write']],
  ['service:write service:read service:read', ['service:read', 'service:write']],
  ['SERVICE:WRITE', ['service:read']],
])('asking %j is asking %j (contract: scope handling on authorize)', (asked, expected) => {
  expect(requestedScopes(asked)).toEqual(expected)
})

test('a refresh may ask for less and never for more', () => {
  const granted = ['service:read', 'service:write']
  expect(scopesOfRefresh(undefined, granted)).toEqual(granted)
  expect(scopesOfRefresh('service:read', granted)).toEqual(['service:read'])
  for (const beyond of ['service:write', 'service:read service:write', 'other', ' '])
    expect(() => scopesOfRefresh(beyond, ['service:read'])).toThrow(expect.objectContaining({ error: 'invalid_scope' }))
})

test('the resource is the api, however it is spelled, and nothing else', () => {
  const base = 'https://api.example.com'
  for (const given of [undefined, base, `${base}/`, 'https://API.example.com', `${base}/mcp`])
    expect(checkResource(given, base)).toBe(base)
  for (const given of ['https://evil.example', `${base}.evil.com`, `${base}/v1`, `${base}?x=1`, 'x'])
    expect(() => checkResource(given, base)).toThrow(expect.objectContaining({ error: 'invalid_target' }))
})
