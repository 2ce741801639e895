// The two ways out for mail: an SMTP server, or a file on this machine when there is none.
import { chmod, open } from 'node:fs/promises'
import { createTransport } from 'nodemailer'

/** A letter to one address, in plain text. */
export type PlainLetter = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly messageId: string
}

/** A letter with what plain ones go without. */
export type Letter = PlainLetter & {
  readonly cc?: readonly string[]
  readonly replyTo?: string | null
  readonly html?: string
  readonly attachments?: readonly {
    readonly filename: string
    readonly contentType: string
    readonly content: Buffer
  }[]
}

export type MailTransport<L extends PlainLetter = PlainLetter> = {
  /**
   * Hands a letter over, and gives how many of its recipients the server refused. Throws `Undeliverable` when the letter will never
   * be taken, anything else when it may be later. `signal` ends the connection, so that the server cannot take the letter afterwards.
   */
  send(letter: L, signal?: AbortSignal): Promise<number>
  close(): void
}

/** The server refused this letter for good. */
export class Undeliverable extends Error {}

/** One address and nothing else: no list, no name, nothing that would start a header of its own. */
const ADDRESS = /^[^\s<>()[\]",;:\\@\p{C}]{1,64}@[^\s<>()[\]",;:\\@\p{C}]{1,255}$/u

/** Whether a letter can go to this text: it is one address and nothing else. */
export const isMailAddress = (text: string): boolean => ADDRESS.test(text)

function refuseOddAddress({ to, cc = [] }: Letter): void {
  if (![to, ...cc].every(isMailAddress)) throw new Undeliverable('the address of a recipient is not one address')
}

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 10_000 }
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Mail through `smtpUrl`. On the way to another machine it is encrypted, unless the operator said ?ignoreTLS=true. */
export function smtpTransport(smtpUrl: string, from: string): MailTransport<Letter> {
  const { protocol, hostname, searchParams } = new URL(smtpUrl)
  const requireTLS = protocol === 'smtp:' && !LOOPBACK.has(hostname) && searchParams.get('ignoreTLS') !== 'true'
  const smtp = createTransport({
    url: smtpUrl,
    ...TIMEOUTS,
    ...(requireTLS ? { requireTLS } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async (letter, signal) => {
      refuseOddAddress(letter)
      try {
        const message = { from, headers: AUTOMATIC, ...messageOf(letter), ...(signal ? { signal } : {}) }
        const { rejected } = await smtp.sendMail(message)
        return rejected.length
      } catch (error) {
        throw isRefusalOfLetter(error)
          ? new Undeliverable('the mail server refused the letter', { cause: error })
          : error
      }
    },
    close: () => smtp.close(),
  }
}

/**
 * The mail server of an installation and the domain that it sends from; null where none is set. Throws where one is, and nothing to
 * send from.
 */
export function smtpOf({ SMTP_URL: server, MAIL_FROM: from }: { SMTP_URL: string | null; MAIL_FROM: string | null }) {
  if (server === null) return null
  if (from === null)
    throw new Error('MAIL_FROM is not set: SMTP_URL is, and servers take mail from an address they know')
  return { transport: smtpTransport(server, from), domain: from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '') }
}

const single = (address: string) => ({ name: '', address })

/** The letter as the library takes it; an address is never read as a list. */
function messageOf({ to, cc, replyTo, subject, text, html, attachments, messageId }: Letter) {
  return {
    to: single(to),
    subject,
    text,
    messageId,
    ...(cc ? { cc: cc.map(single) } : {}),
    ...(replyTo ? { replyTo: single(replyTo) } : {}),
    ...(html === undefined ? {} : { html }),
    ...(attachments ? { attachments: [...attachments] } : {}),
  }
}

/** No answering machine answers a mail that says so (RFC 3834). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' }

/** A 5xx about the letter or its recipient. One about our own credentials is for the operator to put right, and then goes out. */
function isRefusalOfLetter(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('permanent' in error)) return false
  return error.permanent === true && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE')
}

const MODE = 0o600

/** Mail into a file that any mail program reads (mbox), for a machine without a mail server. Only its owner may read it. */
export function mailboxTransport(file: string, from: string, now: () => Date): MailTransport {
  return {
    send: async letter => {
      refuseOddAddress(letter)
      const handle = await open(file, 'a', MODE)
      try {
        // A file from before may have been open to others.
        await chmod(file, MODE)
        await handle.appendFile(mboxEntry(letter, from, now()))
      } finally {
        await handle.close()
      }
      return 0
    },
    close: () => undefined,
  }
}

function mboxEntry({ to, subject, text, messageId }: PlainLetter, from: string, at: Date): string {
  const headers = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Date: ${at.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${messageId}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    'Auto-Submitted: auto-generated',
  ]
  // A line that looks like the start of the next letter is quoted (mboxrd).
  const body = text.replace(/^(>*From )/gm, '>$1')
  return `From millrace ${at.toUTCString()}\n${headers.join('\n')}\n\n${body}\n`
}
