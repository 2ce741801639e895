import { expect, test } from 'vitest'
import { exampleDocument } from '../rendering/testing/example-document.ts'
import { BRANDED, FIXTURES } from '../rendering/testing/fixtures.ts'
import { addressed } from './recipients.ts'
import { writeLetter } from './write-letter.ts'

const written = (name: string, more: object = {}) => {
  const fixture = FIXTURES[name]
  if (!fixture) throw new Error(`no fixture ${name}`)
  return writeLetter({
    invoice: exampleDocument({ ...fixture, ...more }),
    presentation: fixture.presentation ?? BRANDED,
  })
}

test.each([
  ['letter', 'Please find attached invoice INV-2026-00001 from ', 'Invoice INV-2026-00001 – '],
  ['german', 'Anbei erhalten Sie die Rechnung INV-2026-00001 von ', 'Rechnung INV-2026-00001 – '],
  ['french', 'Veuillez trouver ci-joint la facture INV-2026-00001 de ', 'Facture INV-2026-00001 – '],
  ['dutch', 'Hierbij ontvangt u factuur INV-2026-00001 van ', 'Factuur INV-2026-00001 – '],
  ['spanish', 'Adjuntamos la factura INV-2026-00001 de ', 'Factura INV-2026-00001 – '],
])('the letter in %s', (name, opening, subject) => {
  const letter = written(name)
  expect(letter.text.startsWith(opening)).toBe(true)
  expect(letter.html).toContain(opening)
  expect(letter.subject.startsWith(subject)).toBe(true)
})

test.each([
  ['letter', 'Please find attached credit note '],
  ['german', 'Anbei erhalten Sie die Rechnungskorrektur '],
  ['french', 'Veuillez trouver ci-joint l’avoir '],
  ['dutch', 'Hierbij ontvangt u creditnota '],
  ['spanish', 'Adjuntamos la factura rectificativa '],
])('a credit note in %s', (name, opening) => {
  expect(written(name, { row: { type: 'CREDIT' } }).text.startsWith(opening)).toBe(true)
})

test('it says what is due, when and how to pay, and answers go to the seller', () => {
  const letter = written('german')
  expect(letter.text).toMatch(/^Fällig am: \d+\. \S+ 2026$/m)
  expect(letter.text).toMatch(/^Zu zahlen: [\d.,]+ EUR$/m)
  expect(letter.text).toContain('NL91 ABNA 0417 1643 00')
  expect(letter.text).toMatch(/^Online bezahlen: https:\/\/pay\.example\.com\/i\/1$/m)
  expect(letter.html).toContain('<a href="https://pay.example.com/i/1">')
  expect(letter.replyTo).toBe('billing@example.com')
  const paid = written('letter')
  expect(paid.text).toContain('\n\nPaid\n\n')
  expect(paid.text).not.toContain('NL91')
})

test('a hostile name starts no header, no line of its own and no element', () => {
  const letter = written('german', { seller: { legal_name: 'Evil\r\nBcc: x@example.com <img src=x>' } })
  expect(letter.subject).not.toMatch(/[\r\n]/)
  expect(letter.text).not.toMatch(/^Bcc:/m)
  expect(letter.html).not.toContain('<img')
})

const off = [{ type: 'INVOICE' as const, channels: [{ type: 'EMAIL' as const, enabled: false }] }]
const party = (email: string | null, notification_preferences: typeof off | null = null) => ({
  email,
  notification_preferences,
})
test.each([
  [
    'the customer, with copies',
    [party('a@x.com'), party('b@x.com'), party('c@x.com')],
    { to: 'a@x.com', cc: ['b@x.com', 'c@x.com'] },
  ],
  ['each address once', [party('a@x.com'), party('A@x.com'), party('b@x.com')], { to: 'a@x.com', cc: ['b@x.com'] }],
  ['not who disabled it', [party('a@x.com', off), party('b@x.com'), party('c@x.com', off)], { to: 'b@x.com', cc: [] }],
  ['a contact, where the customer has no address', [party(null), party('b@x.com')], { to: 'b@x.com', cc: [] }],
  ['no list of addresses', [party('a@x.com,b@x.com'), party('c@x.com')], { to: 'c@x.com', cc: [] }],
  ['no recipient', [party(null), party('b@x.com', off)], null],
  [
    'at most fifty copies',
    Array.from({ length: 60 }, (_, n) => party(`p${n}@x.com`)),
    expect.objectContaining({ cc: expect.objectContaining({ length: 50 }) }),
  ],
])('recipients: %s', (_, parties, expected) => {
  expect(addressed(parties)).toEqual(expected)
})
