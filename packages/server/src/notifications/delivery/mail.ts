// Sends mail through the operator's SMTP server.
import { createTransport } from 'nodemailer'
import type { Config } from '../../config/config.ts'
import type { MailText } from '../messages/mail-text.ts'
import { DeliveryFailed } from '../provider.ts'

export interface Mail {
  /** Returns when the server has accepted the mail; throws DeliveryFailed. */
  send(mail: MailText & { id: string; to: string }): Promise<void>
}

/** Less than the lease of an ordered queue. */
const timeoutMs = 12_000
const address = /^[^\s@<>(),;:"\\]{1,64}@[^\s@<>(),;:"\\]{1,255}$/

export function openMail({ mailFrom, secrets, url }: Pick<Config, 'mailFrom' | 'secrets' | 'url'>): Mail {
  const { smtpUrl } = secrets
  return {
    async send({ id, to, ...text }) {
      if (smtpUrl === undefined || mailFrom === null) {
        throw new DeliveryFailed(
          'This installation sends no mail. The operator can set MILLRACE_SMTP_URL and MILLRACE_MAIL_FROM.',
          { isFinal: true },
        )
      }
      if (!address.test(to)) {
        throw new DeliveryFailed('`notify` has an `email` that is not one address.', { isFinal: true })
      }
      const transport = createTransport(smtpUrl, {
        from: mailFrom,
        // The same for every attempt, so that mail programs recognize duplicates.
        messageId: `<${id}@${new URL(url).hostname}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      try {
        await within(
          timeoutMs,
          transport.sendMail({ to, ...text, disableFileAccess: true, disableUrlAccess: true }),
        )
      } catch (error) {
        throw explained(error)
      } finally {
        transport.close()
      }
    },
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_done, fail) => {
    timer = setTimeout(
      () => fail(new DeliveryFailed(`The mail server took more than ${ms / 1000} seconds.`)),
      ms,
    )
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** 550 to 559 reject the mail for good; other codes may concern the connection or the login. */
function explained(error: unknown): Error {
  if (error instanceof DeliveryFailed) return error
  const code = Number(error instanceof Error ? Reflect.get(error, 'responseCode') : Number.NaN)
  const isFinal = code >= 550 && code <= 559
  const said = error instanceof Error ? error.message.slice(0, 500) : String(error)
  return new DeliveryFailed(`The mail server did not take the mail: ${said}`, { isFinal })
}
