import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { Form, TextField } from '../../parts/Field.tsx'
import { Loading, Problem } from '../../parts/States.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { userQuery } from '../../shell/queries.ts'
import { MeLayout } from './MeLayout.tsx'
import styles from './profile.module.css'

export function ProfilePage() {
  const { data: user, error, refetch } = useQuery(userQuery())
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (user === undefined) return <Loading />
  return (
    <MeLayout title={user.name}>
      <div className={styles.forms}>
        <NameForm key={user.name} name={user.name} email={user.email} />
        <PasswordForm />
      </div>
    </MeLayout>
  )
}

function NameForm({ name: before, email }: { name: string; email: string }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(before)
  const save = useMutation({
    mutationFn: () => call('PATCH /v2/user', { params: {}, body: { name } }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: userQuery().queryKey })
      showToast('Saved.')
    },
  })
  return (
    <Form onSubmit={() => save.mutate()}>
      <TextField label="Name" value={name} required problem={save.error?.message} onValue={setName} />
      <TextField label="Email" value={email} readOnly hint="An operator can change it." />
      <Button isWrite type="submit" disabled={name === before || save.isPending} isBusy={save.isPending}>
        Save
      </Button>
    </Form>
  )
}

function PasswordForm() {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const change = useMutation({
    mutationFn: () =>
      call('PUT /v2/user/password', {
        params: {},
        body: { ...(current === '' ? {} : { current_password: current }), new_password: next },
      }),
    onSuccess() {
      setCurrent('')
      setNext('')
      showToast('The password is changed. Your other sessions are over.')
    },
  })
  return (
    <Form onSubmit={() => change.mutate()}>
      <h2>Password</h2>
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        value={current}
        hint="Leave it empty if you have none yet."
        onValue={setCurrent}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        required
        value={next}
        problem={change.error?.message}
        onValue={setNext}
      />
      <Button isWrite type="submit" disabled={change.isPending} isBusy={change.isPending}>
        Change the password
      </Button>
    </Form>
  )
}
