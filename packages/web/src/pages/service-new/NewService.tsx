import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Form } from '../../parts/Field.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { createBody, newForm } from '../service/fields.ts'
import { ServiceFields } from '../service/ServiceFields.tsx'
import { createService, reloadServices, type Provider } from '../services/queries.ts'
import styles from './NewService.module.css'

export function NewService({ org, provider }: { org: string; provider: Provider }) {
  const navigate = useNavigate()
  const [form, setForm] = useState(() => newForm(provider))
  const [key, setKey] = useState(newKey)
  const create = useMutation({
    mutationFn: () => createService(org, createBody(provider, form), key),
    async onSuccess({ id }) {
      await reloadServices()
      showToast('The service is made.')
      await navigate({
        to: '/organizations/$org/settings/services/$service',
        params: { org, service: id },
      })
    },
    onError: () => setKey(newKey()),
  })
  return (
    <div className={styles.form}>
      <p className="muted">
        {provider.name}: {provider.summary}
      </p>
      <Form onSubmit={() => create.mutate()}>
        <ServiceFields
          org={org}
          provider={provider}
          before={null}
          form={form}
          onChange={(change) => setForm((before) => ({ ...before, ...change }))}
        />
        {create.error !== null && (
          <p role="alert" className={styles.refused}>
            {create.error.message}
          </p>
        )}
        <span className={styles.buttons}>
          <LinkButton to="/organizations/$org/settings/services/new" params={{ org }}>
            Choose another provider
          </LinkButton>
          <Button kind="primary" isWrite type="submit" isBusy={create.isPending} disabled={create.isPending}>
            Create service
          </Button>
        </span>
      </Form>
    </div>
  )
}
