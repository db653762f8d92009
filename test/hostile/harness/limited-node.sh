#!/bin/sh
# Node.js with the heap and the control group of the part that it runs (world.ts).
case "$*" in
  *dist/api/main.js*) options=$HOSTILE_API_OPTIONS group=$HOSTILE_API_GROUP ;;
  *dist/activities/worker/main.js*) options=$HOSTILE_WORKER_OPTIONS group=$HOSTILE_WORKER_GROUP ;;
esac
if [ -n "$group" ]; then echo $$ > "$group"; fi
if [ -n "$options" ]; then export NODE_OPTIONS="$options"; fi
exec "$HOSTILE_NODE" "$@"
