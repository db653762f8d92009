// A thread that waits for the end of the worker and then kills the process, even if the main thread is blocked.
import { Socket } from 'node:net';
import process from 'node:process';
import { LIFELINE_FD } from './messages.js';

const kill = () => process.kill(process.pid, 'SIGKILL');
new Socket({ fd: LIFELINE_FD }).on('error', kill).on('close', kill).resume();
