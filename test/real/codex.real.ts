import { tryCli } from './capabilities.ts';

tryCli('codex');
