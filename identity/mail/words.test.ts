import fc from 'fast-check'
import { expect, test } from 'vitest'
import { invitationToKnownWords, invitationWords, plainName, tokenReusedWords, webhookWords } from './words.ts'

test.each([
  ['Acme B.V.', 'Acme B.V.'],
  ['Straße & Söhne', 'Straße & Söhne'],
  ['Evil\r\nBcc: everybody@example.com\r\n\r\nHello', 'Evil Bcc: everybody@example. com Hello'],
  ['go to https://evil.example.com/login', 'go to https evil. example. com/login'],
  ['a\u202Eb\u200Bc\u0000d', 'a b c d'],
  ['x'.repeat(200), 'x'.repeat(80)],
])('%j stands in a mail as %j', (name, shown) => {
  expect(plainName(name)).toBe(shown)
})

test('whatever a name is, it stays on its line and makes no link', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), fc.emailAddress()), name => {
      const shown = plainName(name)
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
      expect(shown).not.toMatch(/:\/\/|\.\p{L}{2}/u)
    }),
  )
})

test('no text that somebody chose reaches the subject, and every link is our own', () => {
  const hostile = 'X\r\nSubject: won https://evil.example.com'
  const where = { platformName: hostile, environment: 'LIVE', invitedBy: 'ada@example.com\r\nBcc: x' } as const
  const own = 'https://id.example.com'
  const letters = [
    invitationWords(where, `${own}/activate?token=t`, 7),
    invitationToKnownWords(where, own),
    tokenReusedWords(hostile, own),
    ...(['WEBHOOK_FAILING', 'WEBHOOK_DISABLED'] as const).map(kind =>
      webhookWords(kind, { ...where, webhookName: hostile, cause: 'The endpoint answered 500.' }),
    ),
  ]
  for (const { subject, text } of letters) {
    expect(subject).toMatch(/^[\w ]+$/)
    expect(text).not.toMatch(/^(Subject|Bcc):/m)
    for (const [link] of text.matchAll(/\w+:\/\/\S+/g)) expect(new URL(link).origin).toBe(own)
  }
})
