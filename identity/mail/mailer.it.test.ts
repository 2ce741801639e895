// Mails go out once each, wait while the server is away, and reach one address; by SMTP or into a file.
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createUser } from '../../shared/access/create-platform.ts'
import { asSystem } from '../../shared/database/database.ts'
import { type MailTransport, mailboxTransport, type PlainLetter, smtpTransport } from '../../shared/mail/transport.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { type SmtpServer, startSmtpServer } from '../../shared/testing/smtp-server.ts'
import { runMaintenance } from '../maintenance.ts'
import { type IdentityRig, startIdentity, TEST_IDENTITY_URL } from '../testing/identity-rig.ts'
import { invite, mailsOf } from '../testing/mails.ts'
import { sendDueMails, startMailer } from './mailer.ts'
import { queueNotice, queuePasswordReset } from './outbox.ts'

const FROM = 'Billing <billing@example.com>'
let rig: IdentityRig
let folder: string
let people = 0
beforeAll(async () => {
  rig = await startIdentity()
  folder = await mkdtemp(join(tmpdir(), 'millrace-mail-'))
})
beforeEach(async () => {
  await rig.sql(`update identity_mails set done_at = identity_now(), outcome = 'OBSOLETE' where done_at is null`)
})
afterAll(async () => {
  await rig?.close()
  if (folder) await rm(folder, { recursive: true })
})

const send = (transport: MailTransport, logger = silentLogger) =>
  sendDueMails({ database: rig.database, transport, identityUrl: TEST_IDENTITY_URL, logger })
const ask = (email: string) => asSystem(rig.database, 'identity', tx => queuePasswordReset(tx, email))
async function somebody(): Promise<string> {
  people += 1
  return (await createUser(rig.databaseUrl, `person-${people}@example.com`, [])).email
}
const outcomes = async () =>
  (await rig.sql('select outcome, tries from identity_mails order by created_at desc, id desc limit 1'))[0]
async function withServer<T>(work: (server: SmtpServer, transport: MailTransport) => Promise<T>): Promise<T> {
  const server = await startSmtpServer()
  const transport = smtpTransport(`smtp://127.0.0.1:${server.port}`, FROM)
  try {
    return await work(server, transport)
  } finally {
    transport.close()
    await server.close()
  }
}
/** The text of a letter, with its soft line ends undone. */
const plain = (data: string): string =>
  data.replace(/=\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

test('by SMTP: one letter to one address, plain text, with a link of ours that works', async () => {
  const email = await somebody()
  await withServer(async (server, transport) => {
    await ask(email)
    await send(transport)
    expect(server.received).toHaveLength(1)
    const [letter] = server.received
    expect(letter).toMatchObject({ from: 'billing@example.com', to: [email] })
    const data = plain(letter?.data ?? '')
    for (const header of [`To: ${email}`, `From: ${FROM}`, 'Subject: Your new password for Millrace'])
      expect(data.split('\n')).toContain(header)
    expect(data).toMatch(/^Content-Type: text\/plain; charset=utf-8$/m)
    expect(data).toMatch(/^Auto-Submitted: auto-generated$/m)
    const link = new RegExp(`^${TEST_IDENTITY_URL}(/reset-password\\?token=[\\w-]{43})$`, 'm').exec(data)?.[1] ?? ''
    expect((await rig.app.inject(link)).statusCode).toBe(200)
  })
})

test('while the server is away mails wait, and each is sent once when it is back', async () => {
  const email = await somebody()
  const { port } = await withServer(async server => server)
  const transport = smtpTransport(`smtp://127.0.0.1:${port}`, FROM)
  await ask(email)
  await send(transport)
  expect(await outcomes()).toEqual({ outcome: null, tries: 1 })
  await send(transport)
  expect(await outcomes()).toEqual({ outcome: null, tries: 1 })
  await rig.advance(11)
  await send(transport)
  expect(await outcomes()).toEqual({ outcome: null, tries: 2 })
  const server = await startSmtpServer({ port })
  try {
    await rig.advance(21)
    await send(transport)
    await send(transport)
    await rig.advance(3_600)
    await send(transport)
    expect(server.received.map(({ to }) => to)).toEqual([[email]])
    expect(await outcomes()).toEqual({ outcome: 'SENT', tries: 3 })
  } finally {
    await server.close()
  }
})

test('a link in a mail that was late is as fresh as the mail', async () => {
  const email = await somebody()
  await ask(email)
  const away: MailTransport = { send: () => Promise.reject(new Error('away')), close: () => undefined }
  for (let waited = 0; waited < 2_400; waited += 600) {
    await send(away)
    await rig.advance(600)
  }
  const [letter] = await mailsOf(rig)
  const link = letter?.text.split('\n').find(line => line.startsWith(TEST_IDENTITY_URL)) ?? ''
  await rig.advance(1_700)
  expect((await rig.app.inject(link.slice(TEST_IDENTITY_URL.length))).statusCode).toBe(200)
})

test('a mail is given up when its time is over, or when its letter is refused for good', async () => {
  const email = await somebody()
  const away: MailTransport = { send: () => Promise.reject(new Error('away')), close: () => undefined }
  await ask(email)
  for (let waited = 0; waited < 4_600; waited += 660) {
    await send(away)
    await rig.advance(660)
  }
  expect(await outcomes()).toMatchObject({ outcome: 'GIVEN_UP' })
  const answers: Record<string, string> = {
    [await somebody()]: '550 no such mailbox',
    [await somebody()]: '451 try later',
  }
  const server = await startSmtpServer({ answerTo: recipient => answers[recipient] })
  const transport = smtpTransport(`smtp://127.0.0.1:${server.port}`, FROM)
  try {
    const ends = []
    for (const recipient of Object.keys(answers)) {
      await ask(recipient)
      await send(transport)
      ends.push(await outcomes())
    }
    expect(ends).toEqual([
      { outcome: 'GIVEN_UP', tries: 1 },
      { outcome: null, tries: 1 },
    ])
    expect(server.received).toEqual([])
  } finally {
    transport.close()
    await server.close()
  }
})

test('ten mailers at once send each mail once', async () => {
  const emails = await Promise.all(Array.from({ length: 8 }, somebody))
  for (const email of emails) await ask(email)
  await withServer(async (server, transport) => {
    await Promise.all(Array.from({ length: 10 }, () => send(transport)))
    expect(server.received.map(({ to }) => to[0]).toSorted()).toEqual(emails.toSorted())
  })
})

test('a mailer that dies with a letter in its hands: another takes it five minutes later, under the same id', async () => {
  const email = await somebody()
  await ask(email)
  const ids: string[] = []
  const dying: MailTransport = {
    send: letter => {
      ids.push(letter.messageId)
      return new Promise(() => undefined)
    },
    close: () => undefined,
  }
  void send(dying)
  while (ids.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
  expect(await mailsOf(rig)).toEqual([])
  await rig.advance(301)
  expect((await mailsOf(rig)).map(({ messageId }) => messageId)).toEqual(ids)
})

test('an e-mail that is several addresses, or the start of another header, gets nothing sent to it', async () => {
  const odd = ['a@example.com,b@example.com', 'a@example.com\nbcc: b@example.com', 'a@b <c@example.com>', '@', 'a b@c']
  for (const [index, email] of odd.entries()) {
    await rig.sql(`insert into users (id, username, password_hash) values ($1, $2, 'x')`, [`odd_${index}`, email])
    await ask(email)
  }
  const file = join(folder, 'odd.mbox')
  await withServer(async (server, transport) => {
    await send(transport)
    await rig.sql(
      'update identity_mails set done_at = null, outcome = null, next_try_at = identity_now() where email = any($1)',
      [odd],
    )
    await send(mailboxTransport(file, FROM, () => new Date()))
    expect(server.received).toEqual([])
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })
})

test('a platform’s name cannot add headers, recipients or links to an invitation', async () => {
  const [{ id } = {}] = await rig.sql('select platform_id as id from platforms limit 1')
  const before = await rig.sql('select name from platforms where platform_id = $1', [id])
  await rig.sql('update platforms set name = $1 where platform_id = $2', [
    'Evil\r\nBcc: victim@example.com\r\n\r\nhttps://evil.example.com/login',
    id,
  ])
  await invite(rig, 'guest@example.com', { platformId: String(id) })
  await withServer(async (server, transport) => {
    await send(transport)
    const [letter] = server.received
    expect(letter?.to).toEqual(['guest@example.com'])
    expect(letter?.data).not.toMatch(/^Bcc:/im)
    const origins = [...plain(letter?.data ?? '').matchAll(/\w+:\/\/[^\s/]+/g)].map(([origin]) => origin)
    expect(new Set(origins)).toEqual(new Set([TEST_IDENTITY_URL]))
  })
  await rig.sql('update platforms set name = $1 where platform_id = $2', [before[0]?.['name'], id])
})

test('without a server mail goes into a file that its owner alone may read, and that mail programs read', async () => {
  const file = join(folder, 'mail.mbox')
  const transport = mailboxTransport(file, FROM, () => new Date('2026-01-02T03:04:05Z'))
  const emails = [await somebody(), await somebody()]
  await ask(emails[0] ?? '')
  await send(transport)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await chmod(file, 0o644)
  await ask(emails[1] ?? '')
  await send(transport)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const letters = (await readFile(file, 'utf8')).split(/^From millrace /m).slice(1)
  expect(letters.map(letter => /^To: (.*)$/m.exec(letter)?.[1])).toEqual(emails)
  for (const letter of letters) {
    expect(letter).toMatch(/^Fri, 02 Jan 2026 03:04:05 GMT\nFrom: Billing <billing@example.com>\n/)
    expect(letter).toMatch(/^Date: Fri, 02 Jan 2026 03:04:05 \+0000$/m)
    expect(letter).toMatch(new RegExp(`^${TEST_IDENTITY_URL}/reset-password\\?token=[\\w-]{43}$`, 'm'))
  }
  const direct: PlainLetter = {
    to: 'a@example.com',
    subject: 's',
    messageId: '<x@y>',
    text: 'a\nFrom here\n>From there\n',
  }
  await transport.send(direct)
  expect(await readFile(file, 'utf8')).toContain('\na\n>From here\n>>From there\n')
})

test('to another machine mail is not handed over in clear, unless the operator said so', async () => {
  const email = await somebody()
  const server = await startSmtpServer()
  try {
    // The same machine under a name that does not say so.
    for (const [query, count] of [
      ['', 0],
      ['?ignoreTLS=true', 1],
    ] as const) {
      await ask(email)
      const transport = smtpTransport(`smtp://127.1:${server.port}/${query}`, FROM)
      await send(transport)
      transport.close()
      expect(server.received).toHaveLength(count)
      await mailsOf(rig)
      await rig.sql('update identity_mails set done_at = identity_now(), outcome = $1 where done_at is null', [
        'OBSOLETE',
      ])
    }
  } finally {
    await server.close()
  }
})

test('what the log says of a failure has neither address nor link nor the server’s words', async () => {
  const email = await somebody()
  const lines: string[] = []
  const logger = pino({ level: 'debug' }, { write: line => void lines.push(line) })
  const server = await startSmtpServer({ answerTo: recipient => `550 <${recipient}> is unknown here` })
  const transport = smtpTransport(`smtp://user-name:pass-word@127.0.0.1:${server.port}`, FROM)
  try {
    await ask(email)
    await send(transport, logger)
    await rig.advance(60)
    await send(smtpTransport(`smtp://127.0.0.1:${server.port}`, FROM), logger)
  } finally {
    transport.close()
    await server.close()
  }
  expect(lines).not.toEqual([])
  expect(lines.join('')).not.toMatch(/@|token=|pass-word|unknown here/)
})

test('a started mailer sends by itself, and stops when told', async () => {
  const letters: PlainLetter[] = []
  const transport = {
    send: async (letter: PlainLetter) => {
      letters.push(letter)
      return 0
    },
    close: () => undefined,
  }
  const mailer = startMailer({
    database: rig.database,
    transport,
    identityUrl: TEST_IDENTITY_URL,
    logger: silentLogger,
  })
  const email = await somebody()
  await ask(email)
  while (letters.length === 0) await new Promise(resolve => setTimeout(resolve, 20))
  await mailer.stop()
  expect(letters.map(({ to }) => to)).toEqual([email])
})

test('what was typed and is nobody’s is forgotten within two hours, what was sent after a month', async () => {
  const email = await somebody()
  const [{ id } = {}] = await rig.sql('select id from users where username = $1', [email])
  await ask('typed@example.com')
  await asSystem(rig.database, 'identity', tx => queueNotice(tx, { kind: 'PASSWORD_CHANGED', userId: String(id) }))
  await mailsOf(rig)
  const kept = async () =>
    (await rig.sql(`select kind from identity_mails where email = 'typed@example.com' or user_id = $1`, [id])).length
  expect(await kept()).toBe(2)
  await rig.advance(7_200)
  await runMaintenance(rig.database, rig.keystore)
  expect(await kept()).toBe(1)
  await rig.advance(31 * 86_400)
  await runMaintenance(rig.database, rig.keystore)
  expect(await kept()).toBe(0)
})
