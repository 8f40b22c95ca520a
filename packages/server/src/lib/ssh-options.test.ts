import { expect, it } from 'vitest'
import { sshOptions } from './ssh-options.ts'

it('keeps the keys of two ssh servers of one host apart', () => {
  const alias = (port: string | null) =>
    sshOptions({ host: 'git.example.com', port, address: '192.0.2.1', keyFile: null }).find((option) =>
      option.startsWith('HostKeyAlias='),
    )
  expect([null, '22', '7999', '2222'].map(alias)).toEqual([
    'HostKeyAlias=git.example.com',
    'HostKeyAlias=git.example.com',
    'HostKeyAlias=[git.example.com]:7999',
    'HostKeyAlias=[git.example.com]:2222',
  ])
})
