import { useQuery } from '@tanstack/react-query'
import { LinkButton } from '../../parts/Button.tsx'
import { CopyBlock } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Page } from '../../parts/Page.tsx'
import { Loading, Problem } from '../../parts/States.tsx'
import type { PipelineAddress } from '../pipeline-settings/queries.ts'
import { healthQuery } from '../pipeline-settings/repository/health-query.ts'
import { LastDelivery } from '../pipeline-settings/repository/LastDelivery.tsx'
import styles from './page.module.css'

export interface Created {
  address: PipelineAddress
  name: string
  /** Of its first build; null: it was not asked for. */
  number: string | null
  /** Why the webhook could not be created; null: it is. */
  refusal: string | null
}

/** After a pipeline was created through a connection: its webhook, and the first delivery when it comes. */
export function Connected({ created: { address, name, number, refusal } }: { created: Created }) {
  const { data, error, refetch } = useQuery(healthQuery(address))
  const isWorking = data?.last_delivery?.status === 200
  return (
    <Page
      title={name}
      subtitle={
        isWorking ? 'Pushes are built from now on.' : 'The pipeline is made. Its host must tell it of pushes.'
      }
      actions={
        <>
          {number !== null && (
            <LinkButton to="/$org/$pipeline/builds/$number" params={{ ...address, number }}>
              Open its build
            </LinkButton>
          )}
          <LinkButton kind="primary" to="/$org/$pipeline" params={{ ...address }}>
            Open the pipeline
          </LinkButton>
        </>
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={3} />}
      {data !== undefined && (
        <section className={styles.steps} aria-label="Webhook">
          <p role={refusal === null ? 'status' : 'alert'}>{refusal ?? createdText(data.hook.can_test)}</p>
          <Facts
            isFramed
            facts={[['First delivery', <LastDelivery key="last" delivery={data.last_delivery} />]]}
          />
          {refusal !== null && !isWorking && (
            <>
              <h2>Add it yourself</h2>
              <p>
                {data.hook.instructions}{' '}
                {data.hook.has_secret
                  ? 'Secret: the webhook secret of the connection.'
                  : 'No secret: the connection has none.'}
              </p>
              <CopyBlock text={data.hook.url} label="address of the webhook" />
            </>
          )}
        </section>
      )}
    </Page>
  )
}

const createdText = (canTest: boolean): string =>
  canTest
    ? 'The webhook is created at the host, and its test is on the way.'
    : 'The webhook is created at the host. It has no test: the first push will show that it works.'
