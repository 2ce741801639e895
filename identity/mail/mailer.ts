// Sends what waits. Any number of processes may run one: each mail is taken by one of them at a time.
import { Counter } from 'prom-client'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { type MailTransport, type PlainLetter, Undeliverable } from '../../shared/mail/transport.ts'
import type { Logger } from '../../shared/process/logger.ts'
import { letterFor } from './letters.ts'
import { claimMail, finishMail, type QueuedMail, queueInvitations, requeueMail } from './outbox.ts'

export type MailerDeps = {
  readonly database: Database
  readonly transport: MailTransport
  readonly identityUrl: string
  readonly logger: Logger
}

const TURN_MS = 2_000

const mails = new Counter({
  name: 'millrace_identity_mails_total',
  help: 'Mails of the identity host: sent, queued to be tried again, given up.',
  labelNames: ['outcome'] as const,
})
// There from the start: an increase is seen from zero, not from the first mail on.
for (const outcome of ['sent', 'put_back', 'given_up']) mails.inc({ outcome }, 0)

/** One turn: every mail that is due, and one for each new invitation. */
export async function sendDueMails(deps: MailerDeps): Promise<void> {
  await asSystem(deps.database, 'identity', queueInvitations)
  while (await sendNext(deps)) {
    // until nothing is due
  }
}

async function sendNext(deps: MailerDeps): Promise<boolean> {
  const taken = await asSystem(deps.database, 'identity', async tx => {
    const mail = await claimMail(tx)
    if (!mail) return null
    const letter = await letterFor(tx, mail, deps.identityUrl)
    if (typeof letter === 'string') await finishMail(tx, mail.id, letter)
    return { mail, letter }
  })
  if (taken === null) return false
  const { mail, letter } = taken
  if (typeof letter !== 'string') {
    // The same id at every try, so that a letter handed over twice is recognised as one.
    await handOver(deps, mail, { ...letter, messageId: `<${mail.id}@${new URL(deps.identityUrl).hostname}>` })
  }
  return true
}

async function handOver(deps: MailerDeps, mail: QueuedMail, letter: PlainLetter): Promise<void> {
  const about = { mail: mail.id, kind: mail.kind, tries: mail.tries }
  try {
    await deps.transport.send(letter)
  } catch (error) {
    // Neither address nor letter belongs in the log, and a server's answer may quote both.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const givenUp = error instanceof Undeliverable || mail.last
    await asSystem(deps.database, 'identity', tx =>
      givenUp ? finishMail(tx, mail.id, 'GIVEN_UP') : requeueMail(tx, mail),
    )
    mails.inc({ outcome: givenUp ? 'given_up' : 'put_back' })
    if (givenUp) deps.logger.error({ ...about, code }, 'a mail could not be delivered and is given up')
    else deps.logger.warn({ ...about, code }, 'a mail could not be handed over; trying again later')
    return
  }
  mails.inc({ outcome: 'sent' })
  await asSystem(deps.database, 'identity', tx => finishMail(tx, mail.id, 'SENT'))
}

/** A turn every two seconds, until stopped. A turn that fails is logged, and the next one tries again. */
export function startMailer(deps: MailerDeps): { stop(): Promise<void> } {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const turn = (): void => {
    running = sendDueMails(deps)
      .catch((error: unknown) => deps.logger.warn({ err: error }, 'mails could not be looked at; trying again'))
      .then(() => {
        if (!stopped) timer = setTimeout(turn, TURN_MS)
      })
  }
  turn()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
      deps.transport.close()
    },
  }
}
