import { useInfiniteQuery } from '@tanstack/react-query'
import { ArtifactList } from '../tabs/ArtifactList.tsx'
import { jobArtifactsQuery, type JobPlace } from '../queries.ts'
import styles from '../Content.module.css'

export function JobArtifacts({ place }: { place: JobPlace }) {
  const list = useInfiniteQuery(jobArtifactsQuery(place))
  return (
    <div className={styles.scroll}>
      <ArtifactList
        list={list}
        empty={{ title: 'This job uploaded no artifacts.', hint: 'Its step names them in artifact_paths.' }}
      />
    </div>
  )
}
