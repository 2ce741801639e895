// A new password and the rest of an account: second factors stay in force, and tenants can see that it was changed.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../testing/browser.ts'
import { type IdentityRig, startIdentity } from '../testing/identity-rig.ts'
import { linkIn, mailsOf, tokenIn } from '../testing/mails.ts'
import { gavePassword, newPerson, newTwoStepPerson } from '../testing/second-factor.ts'

let rig: IdentityRig
beforeAll(async () => {
  rig = await startIdentity()
})
afterAll(() => rig?.close())

const post = (url: string, payload: object) => rig.app.inject({ method: 'POST', url, payload })
async function resetOf(email: string, password: string) {
  await post('/v1/oauth/request-password-reset', { email })
  const letter = (await mailsOf(rig)).find(mail => mail.to === email && linkIn(mail, '/reset-password') !== '')
  return await post('/v1/oauth/reset-password', {
    token: tokenIn(linkIn(letter, '/reset-password')),
    new_password: password,
  })
}

test('a reset does not get round a second factor, and ends a sign-in that is half done', async () => {
  const person = await newTwoStepPerson(rig)
  const halfDone = await gavePassword(rig, person)
  const password = 'xk9#mQ2p'
  expect((await resetOf(person.email, password)).statusCode).toBe(200)
  expect((await halfDone.get('/sign-in/second')).statusCode).not.toBe(200)
  const browser = await gavePassword(rig, { email: person.email, password })
  expect((await browser.get('/')).headers['location']).toBe('/sign-in')
  expect((await browser.get('/sign-in/second')).statusCode).toBe(200)
})

test('eight characters are enough beside a second factor, and only there', async () => {
  const [careful, plain] = [await newTwoStepPerson(rig), await newPerson(rig)]
  expect((await resetOf(careful.email, 'xk9#mQ2p')).statusCode).toBe(200)
  const refused = await resetOf(plain.email, 'xk9#mQ2p')
  expect(refused.json()).toMatchObject({ code: 'INVALID_FIELD', field: 'new_password' })
})

test('a changed password stands in the audit trail of every tenant of its user', async () => {
  const person = await newPerson(rig)
  await resetOf(person.email, 'a new and rather long password')
  const [{ id } = {}] = await rig.sql('select id from users where username = $1', [person.email])
  const notices = await rig.sql(
    `select type, environment, actor_id, data from outbox where object_id = $1 and type = 'USER.PASSWORD_CHANGED' order by environment`,
    [id],
  )
  const record = { type: 'USER.PASSWORD_CHANGED', actor_id: id, data: { object_type: 'USER', id } }
  expect(notices).toEqual([
    { ...record, environment: 'LIVE' },
    { ...record, environment: 'TEST' },
  ])
})

test('no page of passwords needs a script, and every field has its label', async () => {
  const person = await newPerson(rig)
  const browser = await gavePassword(rig, person)
  await post('/v1/oauth/request-password-reset', { email: person.email })
  const link = (await mailsOf(rig)).map(letter => linkIn(letter, '/reset-password')).find(found => found !== '')
  for (const path of ['/password', '/sign-out-everywhere', link ?? '']) {
    const { body, statusCode } = await browser.get(path)
    expect(statusCode).toBe(200)
    expect(body).not.toContain('<script')
    const visible = [...body.matchAll(/<input(?![^>]*type="(?:hidden|checkbox)")[^>]*id="([^"]+)"/g)].map(
      ([, id]) => id,
    )
    for (const id of visible) expect(body).toContain(`<label for="${id}">`)
  }
  expect((await openBrowser(rig.app).get('/forgot-password')).body).toContain('<label for="email">')
})
