import type { Schemas } from '../../../api/operations.ts'
import { Empty } from '../../../parts/States.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import styles from '../Content.module.css'

const sorted = (record: Record<string, string>) =>
  Object.entries(record).sort(([a], [b]) => a.localeCompare(b))

export function Environment({ build }: { build: Schemas['Build'] }) {
  const env = sorted(build.env)
  const metaData = sorted(build.meta_data)
  if (env.length + metaData.length === 0) {
    return (
      <Empty title="No environment of its own">
        The build was created without variables, and no job has set meta-data.
      </Empty>
    )
  }
  return (
    <div className={styles.stack}>
      {env.length > 0 && (
        <section>
          <h2>Environment</h2>
          <Facts facts={env} isCode />
        </section>
      )}
      {metaData.length > 0 && (
        <section>
          <h2>Meta-data</h2>
          <Facts facts={metaData} isCode />
        </section>
      )}
    </div>
  )
}
