// Mails the link of an invitation, where the operator has named an SMTP server. The link is nowhere in our tables, so a mail
// whose task is lost is not sent again: the inviter has the link too.
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { openMail } from '../../../notifications/delivery/mail.ts'
import { DeliveryFailed } from '../../../notifications/provider.ts'
import { enqueue } from '../../../tasks/enqueue.ts'
import type { Kinds } from '../../../tasks/kinds.ts'
import { acceptUrl } from './present.ts'
import * as invitations from './queries.ts'
import { mailText } from './rules.ts'

export async function enqueueMail(
  { config, keys }: Pick<Context, 'config' | 'keys'>,
  trx: Trx,
  organizationId: string,
  { id, code }: { id: string; code: string },
): Promise<void> {
  if (config.mailFrom === null) return
  const { sealed, keyId } = keys.seal(code)
  await enqueue(trx, 'send_invitation', {
    invitation_id: id,
    organization_id: organizationId,
    sealed: sealed.toString('base64'),
    key_id: keyId,
  })
}

export async function sendInvitation(
  { config, db, keys, log }: Pick<Context, 'config' | 'db' | 'keys' | 'log'>,
  { invitation_id: id, sealed, key_id: keyId }: Kinds['send_invitation'],
): Promise<void> {
  const code = keys.open(Buffer.from(sealed, 'base64'), keyId)
  const invitation = await invitations.findByCode(db, code)
  if (invitation === undefined) return
  const text = mailText(invitation, acceptUrl(config.url, code))
  try {
    await openMail(config).send({ id, to: invitation.email, ...text })
  } catch (error) {
    if (!(error instanceof DeliveryFailed) || !error.isFinal) throw error
    log.warn({ err: error, invitation_id: id }, 'The mail of an invitation cannot be delivered.')
  }
}
