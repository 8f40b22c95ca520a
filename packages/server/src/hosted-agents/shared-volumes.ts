// Reconciles the engine's shared volumes with the clusters' settings. They differ when an update could not be undone, when a
// cluster was deleted, or when the engine lost its data.
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { eachRowApart } from '../db/each-row.ts'
import type { SharedVolumes } from '../hosted/driver.ts'
import { isEngineAway } from './engine-outage.ts'

const none = { gitMirror: false, containerCache: false }

/**
 * An update of a cluster changes the engine a moment before the database. So a difference is corrected only if it was there at
 * the previous call too.
 */
export function sharedVolumeReconciler(): (ctx: Context) => Promise<void> {
  let suspects = new Set<string>()
  return async (ctx) => {
    const { hosted: driver } = ctx
    if (driver === null) return
    const existing = new Map((await driver.listSharedVolumes()).map((one) => [one.clusterId, one]))
    const { rows } = await sql<SharedVolumes>`
      select id as "clusterId", hosted_git_mirror_enabled as "gitMirror",
        hosted_container_cache_enabled as "containerCache"
      from clusters where hosted and (hosted_git_mirror_enabled or hosted_container_cache_enabled)`.execute(
      ctx.db,
    )
    const wanted = new Map(rows.map((one) => [one.clusterId, one]))
    const differing = [...new Set([...existing.keys(), ...wanted.keys()])].filter((id) => {
      const [is, shouldBe] = [existing.get(id) ?? none, wanted.get(id) ?? none]
      return is.gitMirror !== shouldBe.gitMirror || is.containerCache !== shouldBe.containerCache
    })
    const correct = async (id: string): Promise<void> => {
      const { gitMirror, containerCache } = wanted.get(id) ?? none
      await driver.setGitMirror(id, gitMirror)
      await driver.setContainerCache(id, containerCache)
    }
    const lasting = differing.filter((id) => suspects.has(id))
    await eachRowApart(ctx, 'shared_volumes', lasting, String, correct, { isOutage: isEngineAway })
    suspects = new Set(differing)
  }
}
