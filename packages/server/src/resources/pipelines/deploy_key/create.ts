import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import { makeSshKey } from '../../../lib/ssh-key.ts'
import { readSshAddress } from '../../../lib/ssh-address.ts'
import * as deployKeys from './queries.ts'

interface KeyedPipeline {
  id: string
  slug: string
  name: string
  repository: string
}

/** The private half is made here and never shown. An earlier key is replaced. */
export async function createDeployKey(
  { ctx, org, caller }: RequestContext,
  { id, slug, name, repository }: KeyedPipeline,
): Promise<void> {
  if (readSshAddress(repository) === null) {
    throw refused(
      'A deploy key is for a repository with an address of ssh, such as git@git.example.com:acme/app.git.',
    )
  }
  const { publicKey, fingerprint, privateKey } = makeSshKey(`millrace/${org.slug}/${slug}`)
  const { sealed, keyId } = ctx.keys.seal(privateKey)
  await inTransaction(ctx.db, async (trx) => {
    await deployKeys.insert(trx, {
      organization_id: org.id,
      pipeline_id: id,
      public_key: publicKey,
      fingerprint,
      private_key_sealed: sealed,
      private_key_id: keyId,
      created_at: ctx.now().toISOString(),
      created_by: caller.user.id,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_UPDATED',
      subject: { type: 'Pipeline', uuid: id, name },
      data: { deploy_key_created: fingerprint },
    })
  })
}
