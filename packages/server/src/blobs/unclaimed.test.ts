import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { inTransaction } from '../db/transaction.ts'
import { deleteUnclaimed, release } from './unclaimed.ts'

const app = useOwnApp()

it('deletes objects that were released at the same moment', async () => {
  const { blobs } = app.ctx
  for (let time = 0; time < 20; time++) {
    const key = `released/${time}`
    await blobs.put(key, Readable.from(['x']), 1)
    await inTransaction(app.db, async (trx) => {
      await release(trx, [key])
      await deleteUnclaimed(trx, blobs)
    })
    expect(await blobs.head(key)).toBeNull()
  }
})
