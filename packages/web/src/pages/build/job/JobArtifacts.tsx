import { useInfiniteQuery } from '@tanstack/react-query'
import type { JobAddress } from '../../../api/addresses.ts'
import { ArtifactList } from '../tabs/ArtifactList.tsx'
import { jobArtifactsQuery } from '../queries.ts'
import styles from '../Content.module.css'

export function JobArtifacts({ address }: { address: JobAddress }) {
  const list = useInfiniteQuery(jobArtifactsQuery(address))
  return (
    <div className={styles.scroll}>
      <ArtifactList
        list={list}
        empty={{ title: 'This job uploaded no artifacts.', hint: 'Its step names them in artifact_paths.' }}
      />
    </div>
  )
}
