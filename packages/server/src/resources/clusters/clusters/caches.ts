// The caches of a hosted cluster. The hosted-agent service turns them on and off.
import type { Context } from '../../../context.ts'
import { callDriver } from './hosted-driver.ts'
import { cacheFieldNames, type CacheFieldName, type CacheFields } from './rules.ts'

/** Applies the fields, then runs `save`. When either fails, undoes the fields that were applied. */
export async function applyCaches<T>(
  ctx: Context,
  clusterId: string,
  fields: Partial<CacheFields>,
  save: () => Promise<T>,
): Promise<T> {
  const applied: Array<[CacheFieldName, boolean]> = []
  try {
    for (const name of cacheFieldNames) {
      const isOn = fields[name]
      if (isOn === undefined) continue
      await apply(ctx, clusterId, name, isOn)
      applied.push([name, isOn])
    }
    return await save()
  } catch (error) {
    for (const [name, isOn] of applied) await undo(ctx, clusterId, name, !isOn)
    throw error
  }
}

async function apply(ctx: Context, clusterId: string, name: CacheFieldName, isOn: boolean): Promise<void> {
  await callDriver(ctx, 'apply the change', (driver) =>
    name === 'hosted_git_mirror_enabled'
      ? driver.setGitMirror(clusterId, isOn)
      : driver.setContainerCache(clusterId, isOn),
  )
}

async function undo(ctx: Context, clusterId: string, name: CacheFieldName, isOn: boolean): Promise<void> {
  try {
    await apply(ctx, clusterId, name, isOn)
  } catch (error) {
    ctx.log.error(
      { err: error, cluster_id: clusterId, field: name },
      'The hosted-agent service kept a change that was not saved.',
    )
  }
}
