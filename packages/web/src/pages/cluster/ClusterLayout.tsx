import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { clusterQuery } from '../../api/resource-queries.ts'
import { Mark } from '../../parts/mark/Mark.tsx'
import { SettingsLayout } from '../../parts/settings/SettingsLayout.tsx'
import { Denied, Empty, NotLoaded } from '../../parts/States.tsx'
import {
  clusterPages,
  clusterPath,
  openClusterPages,
  type ClusterPageName,
} from '../../shell/cluster-pages.ts'
import type { Cluster, ClusterAddress } from './queries.ts'

interface Props {
  address: ClusterAddress
  name: ClusterPageName
  /** Instead of the title of the page, for a page below it. */
  title?: string
  before?: ReactNode
  subtitle?: ReactNode
  actions?: ReactNode
  /** Loads nothing before it is rendered, so nothing is asked for those who may not see it. */
  children: (cluster: Cluster) => ReactNode
}

/** A page of a cluster, beside the list of all of them. Whoever may not open it reads who may. */
export function ClusterLayout({ address, name, title, before, subtitle, actions, children }: Props) {
  const { org, cluster: id } = address
  const query = useQuery(clusterQuery(org, id))
  const cluster = query.data
  const page = clusterPages.find((each) => each.name === name)
  if (cluster === undefined || page === undefined) return <NotLoaded query={query} />
  const open = openClusterPages(cluster)
  const isOpen = open.includes(page)
  const isFirst = name === ''
  return (
    <SettingsLayout
      of={cluster.name}
      kind="Contents"
      pages={open.map((each) => ({
        title: each.title,
        to: clusterPath(org, id, each.name),
        isExact: each.name === '',
      }))}
      title={title ?? (isFirst ? cluster.name : page.title)}
      before={before ?? (isFirst && <Mark emoji={cluster.emoji} color={cluster.color} />)}
      subtitle={isOpen ? subtitle : undefined}
      actions={isOpen ? actions : undefined}
    >
      {isOpen ? (
        children(cluster)
      ) : cluster.viewer?.may.manage === true ? (
        <Empty title="This cluster is not hosted">
          {page.title} belong to hosted clusters, whose agents Millrace starts itself. The agents of this one
          are started by people.
        </Empty>
      ) : (
        <Denied>
          Only its maintainers and administrators of the organization may open it. Each of them can make you a
          maintainer of this cluster.
        </Denied>
      )}
    </SettingsLayout>
  )
}
