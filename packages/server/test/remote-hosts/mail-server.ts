// An SMTP server. It records mails and refuses the recipients that the test names.
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

interface TestMail {
  from: string
  to: string[]
  /** As it came, headers first. */
  source: string
}

interface MailServer {
  url: string
  mails: TestMail[]
  /** The response to a recipient; null: it is accepted. */
  refusing: ((to: string, n: number) => { code: number; message: string } | null) | null
  close(): Promise<void>
}

export async function aMailServer(login: { user: string; password: string }): Promise<MailServer> {
  const mails: TestMail[] = []
  let asked = 0
  const server = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth({ username, password }, _session, done) {
      const isRight = username === login.user && password === login.password
      done(isRight ? null : new Error('Wrong password'), isRight ? { user: login.user } : undefined)
    },
    onRcptTo({ address }, _session, done) {
      const refusal = mailServer.refusing?.(address, asked++) ?? null
      done(
        refusal === null ? null : Object.assign(new Error(refusal.message), { responseCode: refusal.code }),
      )
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', done)
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const to = envelope.rcptTo.map(({ address }) => address)
        mails.push({ from, to, source: Buffer.concat(chunks).toString() })
        done()
      })
    },
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.server.address() as AddressInfo
  const mailServer: MailServer = {
    url: `smtp://${login.user}:${login.password}@127.0.0.1:${port}`,
    mails,
    refusing: null,
    close: () => new Promise((closed) => server.close(() => closed())),
  }
  return mailServer
}
