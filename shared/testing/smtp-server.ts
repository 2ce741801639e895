// An SMTP server as small as one can be: takes letters from this machine, and refuses what a test says.
import { type AddressInfo, createServer, type Socket } from 'node:net'

export type ReceivedLetter = { readonly from: string; readonly to: readonly string[]; readonly data: string }

export type SmtpServer = {
  readonly port: number
  readonly received: ReceivedLetter[]
  close(): Promise<void>
}

/** What a recipient is answered: 250 when undefined, and null is silence. */
type AnswerTo = (recipient: string) => string | null | undefined

/** Listens on `port`, or on a free one. */
export async function startSmtpServer(
  options: { readonly port?: number; readonly answerTo?: AnswerTo } = {},
): Promise<SmtpServer> {
  const received: ReceivedLetter[] = []
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    serve(socket, received, options.answerTo ?? (() => undefined))
  })
  await new Promise<void>(resolve => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function serve(socket: Socket, received: ReceivedLetter[], answerTo: AnswerTo): void {
  let pending = ''
  let letter: { from: string; to: string[]; lines: string[] | null } = { from: '', to: [], lines: null }
  const say = (line: string): void => void socket.write(`${line}\r\n`)
  const answer = (text: string | null | undefined): void => (text === null ? undefined : say(text ?? '250 ok'))
  const take = (line: string): void => {
    if (letter.lines !== null) {
      if (line !== '.') {
        letter.lines.push(line.startsWith('.') ? line.slice(1) : line)
        return
      }
      received.push({ from: letter.from, to: letter.to, data: letter.lines.join('\n') })
      letter = { from: '', to: [], lines: null }
      say('250 taken')
      return
    }
    const address = /<(.*)>/.exec(line)?.[1] ?? ''
    if (/^EHLO/i.test(line)) say('250 test')
    else if (/^MAIL FROM/i.test(line)) {
      letter = { from: address, to: [], lines: null }
      say('250 ok')
    } else if (/^RCPT TO/i.test(line)) {
      const refusal = answerTo(address)
      if (refusal === undefined) letter.to.push(address)
      answer(refusal)
    } else if (/^DATA/i.test(line)) {
      letter.lines = []
      say('354 go on')
    } else if (/^QUIT/i.test(line)) {
      say('221 bye')
      socket.end()
    } else say('250 ok')
  }
  socket.on('data', chunk => {
    const lines = (pending + chunk.toString()).split('\r\n')
    pending = lines.pop() ?? ''
    for (const line of lines) take(line)
  })
  say('220 test')
}
