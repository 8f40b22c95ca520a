import { useQuery } from '@tanstack/react-query'
import { serviceName } from '../api/resource-queries.ts'
import { LinkButton } from '../parts/Button.tsx'
import { Icon } from '../parts/Icon.tsx'
import { showLabel } from '../parts/labels.ts'
import { organizationQuery, stoppedServicesQuery } from './queries.ts'
import styles from './Banners.module.css'

/** For those who can repair them, and until somebody has. */
export function StoppedServices({ org }: { org: string }) {
  const { data: organization } = useQuery(organizationQuery(org))
  const mayManage = organization?.viewer?.may.manage_services === true
  const { data } = useQuery({ ...stoppedServicesQuery(org), enabled: mayManage })
  const [first, ...others] = (mayManage && data?.items) || []
  if (first === undefined) return null
  return (
    <div
      className={`${styles.banner} ${styles.short}`}
      role="note"
      aria-label="Stopped notification services"
    >
      <Icon name="unplug" />
      <span className={styles.text}>
        {others.length === 0
          ? `A notification service was stopped, because nothing got through: ${showLabel(serviceName(first))}`
          : 'Several notification services were stopped, because nothing got through.'}
      </span>
      {others.length === 0 ? (
        <LinkButton
          kind="quiet"
          to="/organizations/$org/settings/services/$service"
          params={{ org, service: first.id }}
        >
          Repair it
        </LinkButton>
      ) : (
        <LinkButton kind="quiet" to="/organizations/$org/settings/services" params={{ org }}>
          Show them
        </LinkButton>
      )}
    </div>
  )
}
