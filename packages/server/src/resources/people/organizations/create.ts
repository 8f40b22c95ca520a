import { recordAudit, type Origin } from '../../../audit/record.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction, violatedUnique } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'

const slugPattern = /^[a-z0-9][a-z0-9-]{0,99}$/

/** First words of addresses that are not an organization's, so `/{slug}` would not reach it. */
const reserved =
  /^(sign-in|sign-out|organizations|oauth|docs|downloads|badges|avatars|emojis|deliver|assets|healthz|readyz|metrics|mcp|uploads|v\d+)$/

/** Operators create organizations, on the command line or with the first start. */
export async function createOrganization(
  db: Db,
  origin: Origin,
  { slug, name, emoji = null }: { slug: string; name: string; emoji?: string | null },
): Promise<{ id: string; slug: string; name: string; emoji: string | null }> {
  if (!slugPattern.test(slug)) {
    throw validationFailed('the slug must be lower-case letters, digits and dashes, and at most 100 of them')
  }
  if (reserved.test(slug))
    throw validationFailed(`the slug "${slug}" is the beginning of another address; choose another`)
  if (name.trim() === '') throw validationFailed('the name must not be blank')
  if (emoji !== null && !/^:[\w+-]{1,100}:$/.test(emoji))
    throw validationFailed('the emoji must be a name between colons, such as :rocket:')
  const organization = { id: newId(), slug, name, emoji }
  return inTransaction(db, async (trx) => {
    await trx
      .insertInto('organizations')
      .values(organization)
      .execute()
      .catch((error: unknown) => {
        if (violatedUnique(error) === null) throw error
        throw validationFailed(`there is already an organization "${slug}"`)
      })
    await recordAudit(trx, origin, {
      organizationId: organization.id,
      type: 'ORGANIZATION_CREATED',
      subject: { type: 'Organization', uuid: organization.id, name },
      data: { slug, name, ...(emoji === null ? {} : { emoji }) },
    })
    return organization
  })
}
