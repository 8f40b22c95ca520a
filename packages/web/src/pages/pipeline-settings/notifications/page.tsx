import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { Table } from '../../../parts/Table.tsx'
import type { PipelineRights } from '../../../shell/pipeline-settings-pages.ts'
import { pipelineTeamsQuery } from '../access/queries.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import type { Pipeline, PipelineAddress } from '../queries.ts'
import { concerns, describeStates } from './concerns.ts'
import { servicesQuery, type Service } from './queries.ts'

export function PipelineNotificationsPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/notifications' })
  return (
    <PipelineSettings
      address={address}
      name="notifications"
      subtitle="The notification services of the organization that get the events of this pipeline."
    >
      {({ pipeline, may }) => (
        <>
          <Services address={address} pipeline={pipeline} may={may} />
          <p className="muted">
            A pipeline and its steps also notify with <code>notify</code>
            {may.edit ? (
              <>
                , in the{' '}
                <Link to="/$org/$pipeline/settings/steps" params={address}>
                  steps
                </Link>
                . Commit statuses are a setting of the{' '}
                <Link to="/$org/$pipeline/settings/repository" params={address}>
                  repository
                </Link>
                .
              </>
            ) : (
              ' in the steps.'
            )}
          </p>
        </>
      )}
    </PipelineSettings>
  )
}

interface Props {
  address: PipelineAddress
  pipeline: Pipeline
  may: PipelineRights
}

function Services({ address, pipeline, may }: Props) {
  const list = useInfiniteQuery(servicesQuery(address.org))
  const teams = useInfiniteQuery({
    ...pipelineTeamsQuery(address),
    enabled: may.organization.view_teams,
  })
  const reach = {
    pipeline: pipeline.id,
    cluster: pipeline.cluster_id,
    teams: teams.data?.pages.flatMap((page) => page.rows.map(({ team }) => team.id)) ?? [],
  }
  const rows = list.data?.pages.flatMap((page) => page.rows).filter((service) => concerns(service, reach))
  if (rows === undefined) return <NotLoaded query={list} />
  return (
    <>
      {rows.length === 0 ? (
        <Empty title="No service gets its events" />
      ) : (
        <Table
          label="Notification services"
          rows={rows}
          columns={[
            { head: 'Service', render: ({ provider }) => provider.name },
            {
              head: 'Description',
              titleOf: ({ description }) => description,
              render: ({ description }) => description,
            },
            {
              head: 'When a build is',
              look: 'aside',
              render: ({ build_states: states }) => describeStates(states),
            },
            {
              head: 'Branches',
              look: 'aside',
              render: ({ branch_configuration: branches }) => branches || 'All',
            },
            { head: 'State', titleOf: ({ broken_reason: reason }) => reason ?? undefined, render: stateOf },
          ]}
        />
      )}
      <ShowMore list={list} />
    </>
  )
}

const stateOf = ({ enabled, broken_at: brokenAt }: Service) =>
  brokenAt !== null ? 'Stopped: nothing got through' : enabled ? 'On' : 'Off'
